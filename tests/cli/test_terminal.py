import os
import signal
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.cli.support.fakes import OTHER, FakeKeeper, FakeSession
from tests.cli.support.operating import robo
from tests.cli.support.pty_user import User

from holdfast.cli.main import main
from holdfast.model.errors import NotYourTurn

Sit = Callable[..., User]
DETACH = b"\x1dd"
LEFT_ON = b"\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?2004h"


@pytest.fixture
def sit(keeper: FakeKeeper) -> Iterator[Sit]:
    # Whoever still sits there when the fake keeper goes would start a real one.
    assert not keeper.sessions
    users: list[User] = []

    def start(*words: str, **how: object) -> User:
        users.append(User(*words, **how))  # type: ignore[arg-type]
        return users[-1]

    yield start
    for user in users:
        user.close()


def attached(sit: Sit, web: FakeSession, *words: str) -> User:
    user = sit("attach", "web", *words)
    web.prints(b"ready")
    user.sees(b"ready")
    assert user.is_raw()
    return user


def assert_given_back(user: User) -> None:
    for undone in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l"):
        user.sees(undone)
    assert user.modes() == user.before


def test_keys_go_in_and_output_comes_out_as_it_is(sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web)

    user.types(b"ls\x03\x1a\r")
    web.wait_until(lambda: web.typed() == b"ls\x03\x1a\r")
    web.prints(b"\x1b[31m\xff\x00")
    user.sees(b"\x1b[31m\xff\x00")


def test_the_notice_comes_first_and_says_who_is_here(
    sit: Sit, web: FakeSession
) -> None:
    web.company = (robo("ro\x1bbo"),)
    user = attached(sit, web)

    first = user.shown.splitlines()[0]
    assert b"web: with ro\\x1bbo (agent, " in first
    assert b"Ctrl-] ? help" in first


def test_detaching_gives_the_terminal_back(sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web)
    web.prints(LEFT_ON)
    user.sees(LEFT_ON)

    user.types(b"x" + DETACH)

    assert user.left() == 0
    web.wait_until(lambda: web.detached == 1)
    user.sees(b"detached")
    assert web.typed() == b"x"
    assert_given_back(user)


@pytest.mark.parametrize(("status", "expected"), [(3, 3), (0, 0), (-9, 137)])
def test_the_session_ending_gives_it_back_with_its_status(
    status: int, expected: int, sit: Sit, keeper: FakeKeeper, web: FakeSession
) -> None:
    user = attached(sit, web)
    web.prints(LEFT_ON)
    web.exits(status)

    assert user.left() == expected
    user.sees(b"ended (status")
    assert_given_back(user)
    assert keeper.sessions == []


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]
)
def test_a_signal_gives_it_back(number: int, sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web)
    web.prints(LEFT_ON)
    user.sees(LEFT_ON)

    user.signal(number)

    assert user.left() == 128 + number
    user.sees(b"\x1b[?1049l")
    assert_given_back(user)
    assert b"Traceback" not in user.shown


def test_a_terminal_that_takes_nothing_is_left_all_the_same(
    sit: Sit, web: FakeSession
) -> None:
    user = sit("attach", "web", is_looking=False)
    user.waits_until_raw()
    for _ in range(4):
        web.prints(b"flood" * 10_000)

    user.signal(signal.SIGTERM)

    assert user.left() == 128 + signal.SIGTERM
    assert user.modes() == user.before


def test_what_comes_after_the_session_begins_on_a_line_of_its_own(
    sit: Sit, web: FakeSession
) -> None:
    user = attached(sit, web)

    user.types(DETACH)

    assert user.left() == 0
    user.sees(b"\r\n[holdfast] detached")


def test_an_error_gives_it_back(sit: Sit, keeper: FakeKeeper, web: FakeSession) -> None:
    user = attached(sit, web)
    web.prints(LEFT_ON)
    user.sees(LEFT_ON)

    keeper.sessions.clear()
    web.die()

    assert user.left() == 75
    user.sees(b"was lost")
    assert_given_back(user)


def test_a_bug_gives_it_back(sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web)
    web.prints(LEFT_ON)
    user.sees(LEFT_ON)

    web.speaks_nonsense()

    assert user.left() == 76
    assert_given_back(user)


def test_being_stopped_gives_it_back_and_being_continued_takes_it(
    sit: Sit, web: FakeSession
) -> None:
    user = attached(sit, web)
    web.prints(LEFT_ON)
    user.sees(LEFT_ON)

    user.signal(signal.SIGTSTP)
    _, status = os.waitpid(user.program.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert_given_back(user)

    user.signal(signal.SIGCONT)
    web.wait_until(lambda: len(web.attaches) == 2)
    web.prints(b"again")
    user.sees(b"again")
    assert user.is_raw()
    assert web.attaches[1].after is None
    user.types(DETACH)
    assert user.left() == 0
    assert user.modes() == user.before


def test_a_terminal_of_another_size_gives_its_size(sit: Sit, web: FakeSession) -> None:
    user = sit("attach", "web", size=(100, 30))

    web.wait_until(lambda: web.sizes() == [b"100x30"])
    user.resize(101, 31)
    user.signal(signal.SIGWINCH)
    web.wait_until(lambda: web.sizes() == [b"100x30", b"101x31"])


def test_a_terminal_without_a_size_is_no_reason_to_refuse(
    sit: Sit, web: FakeSession
) -> None:
    user = sit("attach", "web", size=(0, 0))

    web.prints(b"shown")
    user.sees(b"shown")
    assert web.sizes() == []


def test_without_the_turn_the_size_stays(sit: Sit, web: FakeSession) -> None:
    web.company = (robo(),)
    web.passes_turn(OTHER)
    web.refusal = NotYourTurn(OTHER, 1)
    user = sit("attach", "web", size=(100, 30))
    web.prints(b"ready")
    user.sees(b"ready")

    user.resize(101, 31)
    user.signal(signal.SIGWINCH)
    user.types(b"x")
    user.sees(b") has the turn; Ctrl-] t asks for it, Ctrl-] S seizes it")
    assert b"\x1b[0;7m[holdfast] robo (agent, " in user.shown
    user.sees(b"session is 80x24")
    assert [given.payload for given in web.submitted] == [b"x"]


def test_whoever_only_watches_types_nothing(sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web, "--observe")

    user.types(b"rm -rf /\r")
    user.sees(b"only you, watching")
    user.types(DETACH)
    assert user.left() == 0
    assert web.submitted == []


def test_help_is_shown_and_the_prefix_can_be_sent(sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web)

    user.types(b"\x1d?")
    user.sees(b"d  detach; the session keeps")
    user.types(b"q")
    user.sees(b"\x1b[?1049l")
    user.types(b"\x1d\x1d")
    web.wait_until(lambda: web.typed() == b"\x1d")


def test_a_holder_that_dies_is_not_noticed(sit: Sit, web: FakeSession) -> None:
    user = attached(sit, web)
    web.is_silent = True
    user.types(b"x")
    web.wait_until(lambda: web.typed() == b"x")

    web.die()
    web.is_silent = False
    web.revive()
    web.prints(b" and on")
    user.sees(b" and on")
    assert user.shown.count(b"ready") == 1
    user.types(b"y")
    web.wait_until(lambda: web.typed() == b"xy")
    assert b"reconnected" not in user.shown
    assert [given.sequence for given in web.submitted] == [1, 1, 2]
    assert web.attaches[-1].after is not None


def test_output_that_is_gone_is_announced_with_its_size(
    sit: Sit, web: FakeSession
) -> None:
    user = attached(sit, web)

    web.die()
    web.start += len(web.stream) + 1234
    web.stream = b"after the gap"
    web.revive()

    user.sees(b"1234 bytes of output are gone")
    user.sees(b"after the gap")
    assert user.shown.index(b"are gone") < user.shown.index(b"after the gap")


def test_what_has_rolled_off_before_we_came_is_counted_once(
    sit: Sit, web: FakeSession
) -> None:
    web.start, web.stream = 4321, b"what is kept"

    user = attached(sit, web)
    user.sees(b"4321 earlier bytes of output are gone")
    web.die()
    web.revive()
    web.prints(b"and on")
    user.sees(b"and on")

    assert user.shown.index(b"what is kept") < user.shown.index(b"are gone")
    assert user.shown.count(b"are gone") == 1


def test_what_is_typed_while_there_is_no_holder_arrives(
    sit: Sit, web: FakeSession
) -> None:
    user = attached(sit, web)
    user.sees(b"turn: free")  # All of it is loaded: the time counts from here.

    web.die()
    user.types(b"typed blindly")
    threading.Timer(1.2, web.revive).start()  # Long enough to be told of it.

    user.sees(b"reconnected")
    web.wait_until(lambda: web.typed() == b"typed blindly")


def test_inputs_wait_for_a_program_that_does_not_read(
    sit: Sit, web: FakeSession
) -> None:
    user = attached(sit, web)
    web.busy_times = 3

    user.types(b"a")
    web.wait_until(lambda: bool(web.submitted))
    user.types(b"b")
    web.wait_until(lambda: web.typed() == b"ab")


def test_new_attaches_to_what_it_made(sit: Sit, keeper: FakeKeeper) -> None:
    user = sit("new", "--name", "job", "--", "true", size=(90, 20))
    user.sees(b"job: only you")

    (job,) = keeper.sessions
    assert job.facts["size"] == [90, 20]
    job.exits(4)
    assert user.left() == 4


def test_the_only_session_needs_no_name(sit: Sit, web: FakeSession) -> None:
    user = sit("attach")

    web.wait_until(lambda: bool(web.attaches))
    user.types(DETACH)
    assert user.left() == 0


def test_of_several_sessions_one_is_picked(sit: Sit, keeper: FakeKeeper) -> None:
    _, other = keeper.has("one", "other")
    user = sit("attach")
    user.sees(b"Which one? 1 to 2: ")

    user.types(b"9\nx\n2\n")
    other.wait_until(lambda: bool(other.attaches))


def test_a_session_is_not_shown_inside_itself(sit: Sit, web: FakeSession) -> None:
    user = sit("attach", "web", env={"HOLDFAST_SESSION": web.id})

    assert user.left() == 64
    user.sees(b"its own output for ever")
    assert not web.attaches


def test_without_a_terminal_nothing_is_shown_and_nothing_made(
    keeper: FakeKeeper, web: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attach", "web"]) == 64
    assert main(["new"]) == 64
    assert "not a terminal" in capsys.readouterr().err
    assert not web.attaches
    assert keeper.sessions == [web]


def test_without_a_terminal_several_sessions_are_listed(
    keeper: FakeKeeper, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.has("one", "other")

    assert main(["attach"]) == 64
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [
        "one",
        "other",
    ]
