"""`holdfast` alone on a terminal: every session, who needs somebody, and what to do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.scenarios.dozing import dozes, dozing_machine, fall_asleep
from tests.scenarios.looker import looking
from tests.scenarios.support import Machine, apply_policy, eventually, machine

from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

ASK = '[default]\nhuman = "allow"\nagent = "ask"\n'
DOWN, ESC = "\x1b[B", "\x1b"
DETACH = "\x1dd"


def named(here: Machine, name: str, *command: str) -> SessionId:
    session = here.new(*command)
    assert here.ask(do="rename", id=session, name=name)["ok"]
    return session


def test_without_a_terminal_it_prints_the_list() -> None:
    with machine() as here:
        named(here, "build", "sleep", "1000")

        done = subprocess.run(
            [sys.executable, "-m", "holdfast"],
            capture_output=True,
            text=True,
            check=True,
            stdin=subprocess.DEVNULL,
        )

        assert done.stdout.startswith("NAME")
        assert "build" in done.stdout
        assert "\x1b" not in done.stdout


def test_what_sessions_do_and_show_is_on_the_screen_and_changes_with_them() -> None:
    with machine() as here, looking() as user:
        user.sees("no sessions; n starts one")
        session = named(here, "build", "sh", "-c", "read x; echo said $x; read y")
        user.sees("build", "waiting-for-input", "1 needs attention")

        operator = here.join(session)
        operator.enter(b"hello\r")

        user.sees("said hello", "HERE")
        assert user.leaves() == 0


def test_the_terminal_is_as_it_was_after_leaving() -> None:
    with machine() as here, looking() as user:
        here.new("sleep", "1000")
        user.sees("sleep 1000")
        assert user.core.has_mode(1049)

        user.leaves()

        assert not any(user.core.has_mode(one) for one in (1049, 1000, 1006, 2004))
        assert user.core.has_mode(25)
        assert user.core.has_mode(7)


def test_a_signal_leaves_the_terminal_as_it_was() -> None:
    with machine(), looking() as user:
        user.sees("no sessions")
        os.kill(user.pid, signal.SIGTERM)

        assert user.ends() == 128 + signal.SIGTERM
        assert not any(user.core.has_mode(one) for one in (1049, 1000, 1006, 2004))


def test_a_signal_while_attached_ends_both_and_leaves_the_terminal_as_it_was() -> None:
    with machine() as here, looking() as user:
        session = named(here, "one", "sh", "-c", "echo I am one; cat")
        user.sees("I am one")
        user.press("\r")
        user.sees("I am one", gone="w wall")
        observer = here.join(session, mode=wire.Mode.OBSERVE)
        assert len(observer.who().present) == 2

        os.kill(user.pid, signal.SIGTERM)

        assert user.ends() == 128 + signal.SIGTERM
        eventually("only we are attached", lambda: len(observer.who().present) == 1)
        assert not any(user.core.has_mode(one) for one in (1049, 1000, 1006, 2004))


def test_it_can_be_suspended_and_continued() -> None:
    with machine() as here, looking() as user:
        named(here, "one", "sleep", "1000")
        user.sees("one", "w wall")
        user.press("\x1a")
        eventually("it is stopped", lambda: _state(user.pid) == "T")
        user.screen()
        assert not user.core.has_mode(1049)

        os.kill(user.pid, signal.SIGCONT)

        user.sees("one", "w wall")
        assert user.core.has_mode(1049)
        assert user.leaves() == 0


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def test_enter_attaches_and_detaching_comes_back() -> None:
    with machine() as here, looking() as user:
        named(here, "one", "sh", "-c", "echo I am one; cat")
        named(here, "two", "sh", "-c", "echo I am two; cat")
        user.sees("one", "two", "I am two")
        user.press("/", "one", "\r")
        user.sees("1 with", "I am one")

        user.press("\r")
        user.sees("I am one", gone="w wall")
        user.press("typed\r")
        user.sees("typed\ntyped")
        user.press(DETACH)

        user.sees("holdfast", "1 with", "typed")
        user.press(ESC)
        user.sees("2 sessions", gone="1 with")


def test_a_session_that_ends_while_attached_brings_one_back() -> None:
    with machine() as here, looking() as user:
        named(here, "short", "sh", "-c", "echo ready; read x")
        user.sees("ready", "short")
        user.press("\r")
        user.sees("ready", gone="w wall")
        user.press("\r")

        user.sees("no sessions; n starts one")


def test_what_waits_is_approved_as_it_was_shown_and_denied() -> None:
    with machine() as here:
        apply_policy(ASK)
        session = named(here, "shell", "sh", "-c", "cat")
        robo = here.join(session, "robo", ActorKind.AGENT)
        with looking() as user:
            user.sees("shell")
            robo.submit(b"rm -rf \x1b[31m/\r")
            user.sees("waits for approval", "1 needs attention")

            user.press("a")
            pending = robo_pending(here, session)
            shown = user.sees(r"rm -rf \x1b[31m/\x0d", "robo (agent", "default-agent")
            assert pending.digest.hex() in shown.replace("\n", "").replace(" ", "")
            user.press("y")

            assert isinstance(robo.settle_through_cuts(), wire.Acknowledge)
            user.sees("approved")

            robo.submit(b"second\r")
            user.sees("waits for approval")
            user.press("a")
            user.sees("second", "n deny")
            user.press("n")
            assert isinstance(robo.settle_through_cuts(), wire.Refuse)
            user.sees("denied")


def robo_pending(here: Machine, session: SessionId) -> wire.Pending:
    watcher = here.join(session, mode=wire.Mode.OBSERVE)
    try:
        return watcher.who().pending[0]
    finally:
        watcher.close()


def test_a_session_is_frozen_thawed_seized_renamed_and_ended() -> None:
    with machine() as here, looking() as user:
        session = named(here, "work", "sleep", "1000")
        robo = here.join(session, "robo", ActorKind.AGENT)
        assert robo.request(wire.Take()) is None
        user.sees("work", "robo has the turn")

        user.press("f")
        user.sees("# work", "frozen")
        user.press("f")
        user.sees("work", gone="# work")
        user.press("s")
        user.sees("take the turn of work from robo? y/N")
        user.press("y")
        user.sees("you have the turn")
        user.press("r", "play", "\r")
        user.sees("play", gone="work")
        user.press("x")
        user.sees("end play and everything that runs in it? y/N")
        user.press("y")
        user.sees("no sessions")
        assert here.facts(session) is None


def test_a_session_is_made_and_attached_to() -> None:
    with machine(), looking() as user:
        user.sees("no sessions; n starts one")
        user.press("n", "mine", "\r")
        user.sees("command")
        user.press("sh -c 'echo made; cat'", "\r")
        user.sees("made", gone="w wall")
        user.press(DETACH)

        user.sees("mine", "made", "holdfast")


def test_the_mouse_selects_attaches_and_presses_what_the_last_row_offers() -> None:
    with machine() as here, looking() as user:
        named(here, "one", "sh", "-c", "echo I am one; cat")
        named(here, "two", "sh", "-c", "echo I am two; cat")
        user.sees("I am two", " one ")
        user.click(5, user.row_of(" one "))
        user.sees("I am one")

        user.click(user.screen().lines[23].index("w wall"), 23)
        user.sees("I am one", "I am two", "w list")
        user.click(5, user.row_of("I am two"))
        user.click(5, user.row_of("I am two"))
        user.sees("I am two", gone="I am one")
        user.press(DETACH)
        user.sees("w list")


def test_no_letter_of_a_long_paste_is_a_command() -> None:
    with machine() as here, looking() as user:
        named(here, "one", "sh", "-c", "echo I am one; cat")
        user.sees("I am one")
        user.press("\x1b[200~", "-" * 20_000, "q", "\x1b[201~", "w")

        user.sees("w list")
        user.press(ESC)
        user.sees("w wall")
        user.leaves()


def test_the_wall_shows_several_sessions_live() -> None:
    with machine() as here, looking(100, 30) as user:
        tick = "i=0; while :; do i=$((i+1)); echo {} $i; sleep 0.1; done"
        for name in ("ant", "bee", "cat"):
            named(here, name, "sh", "-c", tick.format(name))
        user.press("w")
        user.sees("ant 5", "bee 5", "cat 5")
        user.sees("ant 15", "bee 15", "cat 15")


def test_what_dozes_is_not_woken_by_a_look_and_dozes_while_it_is_shown() -> None:
    with dozing_machine(1.0) as here:
        asleep = named(here, "asleep", "cat")
        fall_asleep(here, asleep)
        with looking() as user:
            user.sees("dozing", "asleep; Space wakes it")
            awake = named(here, "awake", "sh", "-c", "echo I was awake; cat")
            user.sees("awake  ")
            user.press("\x1b[H")
            user.sees("I was awake")

            eventually("it dozes beside the overview", lambda: dozes(here, awake))
            user.sees("I was awake", "─ awake", "awake  dozing")
            holders = [here.facts(one) for one in (asleep, awake)]
            time.sleep(3)

            assert [here.facts(one) for one in (asleep, awake)] == holders
            user.press(DOWN, " ")
            user.sees(gone="asleep; Space")


def test_what_dozes_at_a_secret_is_known_to_ask_for_it_without_being_woken() -> None:
    with dozing_machine(1.0) as here:
        session = named(here, "vault", "sh", "-c", "stty -echo; read secret")
        fall_asleep(here, session)
        with looking() as user:
            user.sees("* vault", "dozing", "asks for a secret")

            assert dozes(here, session)


def test_a_session_that_calls_for_somebody_comes_first() -> None:
    with machine() as here, looking() as user:
        named(
            here,
            "older",
            "sh",
            "-c",
            "read x; printf '\\033]9;tests are done\\007'; cat",
        )
        session = SessionId(str(here.ask(do="list")["sessions"][0]["id"]))  # type: ignore[index]  # it lists
        named(here, "newer", "sleep", "1000")
        user.sees("older", "newer")
        here.join(session).enter(b"go\r")

        user.sees("! older", "tests are done", "1 needs attention")


def test_a_look_is_no_attachment_and_is_not_on_record() -> None:
    with machine() as here, looking() as user:
        session = named(here, "private", "sh", "-c", "echo here; cat")
        operator = here.join(session)
        user.sees("here", "private")
        user.press("w")
        user.sees("w list")

        assert len(operator.who().present) == 1


def test_a_keeper_that_is_killed_and_a_session_that_ends_under_the_cursor() -> None:
    with machine() as here, looking() as user:
        first = named(here, "first", "sleep", "1000")
        user.sees("first")
        here.kill("keeper")
        eventually("a keeper", lambda: here.ask(do="status"))
        second = named(here, "second", "sleep", "1000")
        user.sees("first", "second")

        for session in (second, first):
            os.kill(here.pid("leader", session), signal.SIGKILL)
        user.sees("killed 9")
        user.press("\r")
        user.sees("has ended; x removes it")
        user.press("x", "y")
        user.sees("1 session")


def test_hostile_names_titles_and_pictures_are_inert() -> None:
    with machine() as here, looking() as user:
        bad = r"\033]0;evil\007\033[?1049l\033[31m\342\200\256evil\033[8mhidden\n"
        here.new("sh", "-c", f"printf '{bad}'; exec cat", "\x1b[2J\u202e")
        user.sees("evil", "w wall")

        text = user.screen().text()

        assert "\u202e" not in text
        assert "hidden" not in text.split("evil")[-1]
        assert user.core.has_mode(1049)
        assert user.core.title() != "evil"


def test_terminals_of_any_size_and_storms_of_resizes_are_drawn_on() -> None:
    with machine() as here, looking(20, 5) as user:
        for number in range(12):
            named(here, f"s{number}", "sleep", "1000")
        user.sees("holdfast", "s11")
        user.resize(500, 200)
        user.sees("s0", "s11", "the turn is free")
        for number in range(200):
            user.resize(20 + number, 5 + number % 40)
            time.sleep(0.005)
            user.screen()
        user.resize(80, 24)
        user.sees("12 sessions", "w wall", "s11")
        assert user.screen().lines[0].startswith(" holdfast  12 sessions")
        assert user.leaves() == 0
