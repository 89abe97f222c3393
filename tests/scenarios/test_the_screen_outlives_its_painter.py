import os
import signal
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.client.driver import ask
from holdfast.core.client.screen_question import Seen, screen
from holdfast.linux.stored import places
from holdfast.model.errors import Unavailable
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

FULL_SCREEN = (
    r"printf 'shell\n$ vi\n\033[?1049h\033[2J\033[1;1Hfirst line"
    r"\033[5;10H\033[1;31mred\033[m\033]2;vi - notes\007\033[24;1H-- INSERT --'"
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def painter(here: Machine) -> int:
    pid = here.ask(do="status")["painter"]
    assert isinstance(pid, int)
    return pid


def shown(session: SessionId, wanted: str) -> Seen:
    def look() -> Seen | None:
        try:
            seen = ask(session, screen(cells=False))
        except Unavailable:
            return None
        return seen if wanted in seen.screen.text() else None

    return eventually(f"{wanted!r} is shown", look)


class Fresh(Client):
    """A client that has seen nothing, and asks for the present."""

    def __init__(self, session: SessionId) -> None:
        self.parts: list[wire.Keyframe] = []
        super().__init__(session)

    def send(self, message: object) -> None:
        if isinstance(message, wire.Attach):
            message = wire.Attach(
                session=message.session,
                client=message.client,
                mode=message.mode,
                size=None,
                incarnation=None,
                after=None,
                keyframe=True,
            )
        super().send(message)  # type: ignore[arg-type]  # whatever was given

    def present(self) -> bytes:
        """Return what it is shown first: a picture if one comes, else the window."""
        while not self.output and not any(self._pictures()):
            self._receive(1.0)
        return self.paint() if any(self._pictures()) else self.output

    def _pictures(self) -> Iterator[bool]:
        return (isinstance(one, wire.Keyframe) for one in self._inbox)

    def paint(self) -> bytes:
        """Return the keyframe, and go on after it."""
        while not self.parts or self.parts[-1].more:
            self.parts.append(self.wait(wire.Keyframe))
        return b"".join(part.data for part in self.parts)

    def _take(self, message: object) -> None:
        if isinstance(message, wire.Keyframe):
            self.end = message.offset
        super()._take(message)  # type: ignore[arg-type]  # whatever came


def test_a_full_screen_program_is_seen_as_its_user_sees_it(here: Machine) -> None:
    session = here.new("sh", "-c", f"{FULL_SCREEN}; sleep 60")
    seen = shown(session, "INSERT")

    assert seen.screen.lines[0] == "first line"
    assert seen.screen.lines[4] == " " * 9 + "red"
    assert seen.screen.lines[23] == "-- INSERT --"
    assert (seen.screen.cursor_row, seen.screen.cursor_column) == (23, 12)
    assert seen.screen.title == "vi - notes"
    assert seen.screen.alternate
    assert seen.exact
    assert any(
        run.text == "red" and run.foreground == 2
        for run in ask(session, screen(cells=True)).screen.runs
    )


@pytest.mark.parametrize("times", range(1, 4))
def test_a_painter_killed_again_and_again_leaves_the_screen_right(
    here: Machine, times: int
) -> None:
    session = here.new("sh", "-c", f"{FULL_SCREEN}; sleep 60")
    before = shown(session, "INSERT")

    for _ in range(times):
        os.kill(eventually("a painter", lambda: painter(here)), signal.SIGKILL)
        assert shown(session, "INSERT") == before


def test_a_painter_killed_while_the_screen_changes_is_not_missed(
    here: Machine,
) -> None:
    program = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line-$i; done; echo end."
    session = here.new("sh", "-c", f"{program}; sleep 60")

    for _ in range(4):
        shown(session, "line-")
        os.kill(eventually("a painter", lambda: painter(here)), signal.SIGKILL)
    assert shown(session, "end.").screen.lines[22] == "end."


@pytest.mark.parametrize("victim", ["holder", "keeper"])
def test_whoever_is_killed_the_screen_is_there_again(
    here: Machine, victim: str
) -> None:
    session = here.new("sh", "-c", f"{FULL_SCREEN}; sleep 60")
    before = shown(session, "INSERT")

    here.kill(victim, session)

    assert shown(session, "INSERT").screen == before.screen


def test_a_session_has_the_screen_that_its_size_gives_it(here: Machine) -> None:
    session = here.new("cat")
    client = here.join(session)
    client.enter(b"x" * 60)
    client.wait_output(b"x" * 60)
    client.post(b"40x10", InputKind.RESIZE)
    client.settle()
    client.enter(b"y" * 60)
    client.wait_output(b"y" * 60)

    seen = shown(session, "y" * 40)
    assert (seen.screen.size.columns, seen.screen.size.rows) == (40, 10)
    assert seen.screen.lines[:3] == ("x" * 40, "x" * 20 + "y" * 20, "y" * 40)


def test_hostile_output_disturbs_neither_its_session_nor_another(
    here: Machine,
) -> None:
    other = here.new("sh", "-c", "printf untouched; sleep 60")
    bad = (
        "import sys,random\n"
        "r=random.Random(1)\n"
        "p=[b'\\x1b]8;id=1;http://x\\x1b\\\\',b'\\x1b[?1049h',b'\\x1b[2J',b'\\x1bc',"
        "b'\\x1b[999999999b',b'\\x1b[5S',b'\\x1b[2;5r',b'x'*50,b'\\x1b[?69h\\x1b[3;9s']\n"
        "for _ in range(8):\n"
        "  sys.stdout.buffer.write(b''.join(r.choices(p,k=1000)))\n"
        "sys.stdout.buffer.write(b'\\x18\\x1bcfine')\n"
        "sys.stdout.flush()\n"
        "import time; time.sleep(60)"
    )
    hostile = here.new("python3", "-c", bad)

    assert shown(hostile, "fine").screen.lines[0] == "fine"
    assert shown(other, "untouched").exact


def test_an_attach_with_a_full_window_paints_the_present(here: Machine) -> None:
    program = "seq 1 300000; printf '\\033[31mlast'; sleep 60"
    session = here.new("sh", "-c", program)
    shown(session, "last")
    client = Fresh(session)
    here.clients.append(client)
    keyframe = client.paint()

    assert b"300000" in keyframe
    assert b"last" in keyframe
    assert len(keyframe) < 512 * 1024
    client.enter(b"typed\r")
    client.wait_output(b"typed")


def test_the_cursor_is_told_in_the_order_of_the_questions(here: Machine) -> None:
    program = (
        r"stty -echo; printf 'abc\033[4;7H\033[6n\033[c\033[?6n';"
        r"read -rs -d c answers; read -rs -d R rest;"
        r"printf '%q and %q.' "
        r'"$answers" "$rest"; sleep 60'
    )
    session = here.new("bash", "-c", program)
    client = here.join(session)

    client.wait_output(rb"$'\E[4;7R\E[?62;22' and $'\E[?4;7;1'.")


def test_an_answer_is_never_typed_into_the_middle_of_an_input(here: Machine) -> None:
    program = (
        "import os, sys, time, tty\n"
        "tty.setraw(0)\n"
        "os.write(1, b'ready.')\n"
        "while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
        "os.write(1, b'\\x1b[6n')\n"
        "time.sleep(0.5)\n"
        "got = b''\n"
        "while len(got) < 60006: got += os.read(0, 65536)\n"
        "os.write(1, b'answered at %d.' % got.index(b'\\x1b'))\n"
        "time.sleep(60)"
    )
    sign = places.runtime_dir() / "go"
    session = here.new("python3", "-c", program, str(sign))
    client = here.join(session)
    client.wait_output(b"ready.")
    client.post(b"x" * 60000)
    sign.touch()

    client.wait_output(b"answered at 60000.")


def test_without_a_painter_later_questions_are_answered_all_the_same(
    here: Machine,
) -> None:
    places.painter_socket().unlink()
    program = (
        r"stty -echo; printf '\033[6n\033[c'; read -rs -d c answers;"
        r"""printf '%q.' "$answers"; sleep 60"""
    )
    session = here.new("bash", "-c", program)
    client = here.join(session)

    client.wait_output(rb"$'\E[?62;22'.")


def test_without_a_painter_whoever_attaches_is_shown_the_window(
    here: Machine,
) -> None:
    places.painter_socket().unlink()
    session = here.new("sh", "-c", "seq 1 300000; printf last; sleep 60")
    here.join(session).wait_output(b"last")
    client = Fresh(session)
    here.clients.append(client)

    client.wait_output(b"299999\r\n300000\r\nlast")
    with pytest.raises(Unavailable):
        ask(session, screen(cells=False))


def test_a_painter_that_hangs_keeps_nobody_waiting_for_long(here: Machine) -> None:
    session = here.new("sh", "-c", "seq 1 300000; printf last; sleep 60")
    shown(session, "last")
    pid = eventually("a painter", lambda: painter(here))
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    client = Fresh(session)
    here.clients.append(client)

    present = client.present()
    assert time.monotonic() - began < 5
    # The one that hangs is replaced, and its successor may have painted it in time.
    assert b"300000" in present or client.wait_output(b"300000\r\nlast")
    eventually("it is replaced", lambda: painter(here) not in (0, pid))
    shown(session, "last")


def test_what_a_session_showed_last_can_be_seen_after_its_end(here: Machine) -> None:
    session = here.new("sh", "-c", "printf 'last words'")
    eventually("it ended", lambda: (here.facts(session) or {})["state"] == "exited")

    assert shown(session, "last words").screen.lines[0] == "last words"
