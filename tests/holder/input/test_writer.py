"""What reaches a terminal: whom a signal hits, and how long a line may become."""

import subprocess
import termios
import tty

import pytest
from tests.holder.input_world import Client, World
from tests.scenarios.support import eventually

from holdfast.holder.input.payloads import MAX_LINE
from holdfast.holder.input.writer import AGAIN, ECHO_PATIENCE
from holdfast.linux import pty
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

TERM = 15


@pytest.fixture
def anna(here: World) -> Client:
    return here.join()


def types(here: World, client: Client, payload: bytes) -> str:
    """Type something; return why it is refused, or nothing."""
    client.submit(payload)
    here.session.settle()
    codes = [one.code for one in client.told() if isinstance(one, wire.Refuse)]
    return "".join(codes)


def test_a_signal_hits_what_is_in_the_foreground_and_not_the_leader(
    here: World, anna: Client
) -> None:
    command = ["setsid", "--ctty", "sleep", "600"]
    with subprocess.Popen(command, stdin=here.slave) as process:
        eventually("it has it", lambda: pty.foreground(here.descriptors.master))

        anna.submit(str(TERM).encode(), InputKind.SIGNAL)
        here.session.settle()

        assert process.wait(10) == -TERM
    assert here.leader.poll() is None


def test_a_line_may_become_so_long_over_several_inputs(
    here: World, anna: Client
) -> None:
    assert types(here, anna, b"x" * (MAX_LINE - 5)) == ""
    assert types(here, anna, b"y" * 5) == ""
    assert types(here, anna, b"y") == "line-too-long"
    assert types(here, here.join(), b"\r") == ""  # As another client, from the start.
    assert types(here, here.join(), b"z" * 6) == ""  # Another line.


def test_a_line_that_would_become_longer_is_refused_whole(
    here: World, anna: Client
) -> None:
    assert types(here, anna, b"x" * (MAX_LINE - 5)) == ""
    assert types(here, anna, b"y" * 6) == "line-too-long"


def test_a_line_of_a_program_that_reads_key_by_key_has_no_end(
    here: World, anna: Client
) -> None:
    tty.setraw(here.slave)

    for _ in range(3):
        assert types(here, anna, b"x" * (MAX_LINE - 5)) == ""
        here.typed()
    tty.setcbreak(here.slave)
    assert types(here, anna, b"x" * (MAX_LINE - 5)) == ""


def test_what_was_typed_key_by_key_does_not_count_once_lines_are_read(
    here: World, anna: Client
) -> None:
    before = termios.tcgetattr(here.slave)
    tty.setraw(here.slave)
    assert types(here, anna, b"x" * 100) == ""
    here.typed()

    termios.tcsetattr(here.slave, termios.TCSANOW, before)

    assert types(here, anna, b"x" * (MAX_LINE - 100)) == ""


def test_what_does_not_fit_is_tried_again_soon_and_only_then(
    here: World, anna: Client
) -> None:
    tty.setraw(here.slave)
    writer = here.session.writer
    payload = bytes(range(65, 91)) * 800
    anna.submit(payload)
    assert writer.is_on

    got = here.typed()
    while len(got) < len(payload):
        here.turn(2 * AGAIN)
        more = here.typed()
        assert more, "it does not go on"
        got += more

    assert got == payload
    assert not writer.is_on
    here.turn(2 * ECHO_PATIENCE)
    (told,) = [one for one in anna.told() if isinstance(one, wire.Acknowledge)]
    assert told.sequence == 1


def test_what_nobody_waits_behind_is_booked_a_moment_later(
    here: World, anna: Client
) -> None:
    anna.submit(b"a")
    writer = here.session.writer
    assert writer.taken is not None
    assert [one for one in anna.told() if isinstance(one, wire.Acknowledge)] == []

    writer.echoed()

    assert writer.taken is None
    here.session.book.sync()
    assert [one for one in anna.told() if isinstance(one, wire.Acknowledge)]
