import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.painter.programs import saying

from holdfast.model.errors import OffsetAhead, PainterDied, ScreenForgotten
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.painter.client import Painter
from holdfast.painter.packets import MAX_DATA
from holdfast.term.queries import QueryKind

ONE, OTHER = SessionId("s_one"), SessionId("s_other")
SIZE = Size(80, 24)
OK = "'ok': True, 'at': 0, 'size': [80, 24]"


@pytest.fixture
def painter() -> Iterator[Painter]:
    with Painter() as painter:
        yield painter


def test_a_session_is_painted_in_another_process(painter: Painter) -> None:
    painter.reset(ONE, SIZE, offset=1000)

    assert painter.feed(ONE, 1000, b"hello\x1b[3;4H") == 1011
    assert painter.pid not in {None, os.getpid()}
    assert painter.screen(ONE).text() == "hello"
    assert painter.answer(ONE, QueryKind.CURSOR) == b"\x1b[3;4R"
    assert painter.answer(ONE, QueryKind.CLIPBOARD) == b""


def test_a_keyframe_says_what_it_is_a_picture_of(painter: Painter) -> None:
    painter.reset(ONE, SIZE)
    painter.feed(ONE, 0, b"\x1b[31mred")
    painter.resize(ONE, Size(40, 10))
    keyframe = painter.keyframe(ONE)

    painter.reset(OTHER, keyframe.size, keyframe.offset, keyframe.data)
    assert (keyframe.offset, keyframe.size) == (8, Size(40, 10))
    assert painter.screen(OTHER) == painter.screen(ONE)
    assert painter.keyframe(OTHER).offset == 8


def test_more_than_a_packet_holds_goes_both_ways(painter: Painter) -> None:
    line = b"\x1b[31m%06d\x1b[0m " + b"x" * 60 + b"\r\n"
    output = b"".join(line % number for number in range(5000))
    painter.reset(ONE, SIZE)

    assert painter.feed(ONE, 0, output) == len(output)
    keyframe = painter.keyframe(ONE)
    assert len(keyframe.data) > 2 * MAX_DATA
    painter.reset(OTHER, SIZE, keyframe.offset, keyframe.data)
    assert painter.screen(OTHER) == painter.screen(ONE)
    assert painter.screen(ONE).lines[-2].startswith("004999 xxx")


def test_no_output_is_fed_without_harm(painter: Painter) -> None:
    painter.reset(ONE, SIZE, offset=5)

    assert painter.feed(ONE, 5, b"") == 5


def test_a_gap_is_refused_and_the_painter_lives(painter: Painter) -> None:
    painter.reset(ONE, SIZE)
    pid = painter.pid

    with pytest.raises(OffsetAhead):
        painter.feed(ONE, 10, b"x")
    painter.skip(ONE, 10)
    assert painter.feed(ONE, 10, b"x") == 11
    assert painter.pid == pid


def test_a_session_that_is_not_painted_is_said_to_be_forgotten(
    painter: Painter,
) -> None:
    painter.reset(ONE, SIZE)
    painter.drop(ONE)

    with pytest.raises(ScreenForgotten):
        painter.screen(ONE)


def test_nothing_is_started_before_it_is_needed() -> None:
    with Painter() as painter:
        painter.drop(ONE)

        assert painter.pid is None


def test_a_painter_has_its_socket_and_nothing_else(painter: Painter) -> None:
    with Path("/dev/null").open() as other:
        os.set_inheritable(other.fileno(), True)  # noqa: FBT003  # the system's own
        painter.reset(ONE, SIZE)
        names = Path(f"/proc/{painter.pid}/fd")
        try:
            targets = [str(name.readlink()) for name in sorted(names.iterdir())]
        except PermissionError:
            pytest.skip("only root may look at a process that is not dumpable")

    assert targets[0].startswith("socket:")
    assert targets[1:] == ["/dev/null", "/dev/null"]


def test_closing_ends_the_process_and_leaves_no_trace(painter: Painter) -> None:
    painter.reset(ONE, SIZE)
    pid = painter.pid
    painter.close()

    assert painter.pid is None
    assert not Path(f"/proc/{pid}").exists()


def test_a_kill_in_the_middle_of_a_request_is_noticed_at_once(
    painter: Painter,
) -> None:
    painter.reset(ONE, SIZE)
    pid = painter.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # so that the request is not answered before
    killer = threading.Timer(0.05, os.kill, (pid, signal.SIGKILL))
    began = time.monotonic()
    killer.start()

    with pytest.raises(PainterDied, match="-9"):
        painter.screen(ONE)
    assert time.monotonic() - began < 2
    killer.join()
    painter.reset(ONE, SIZE)
    assert painter.pid != pid
    painter.feed(ONE, 0, b"again")
    assert painter.screen(ONE).text() == "again"


def test_a_kill_between_requests_is_noticed_with_the_next(painter: Painter) -> None:
    painter.reset(ONE, SIZE)
    assert painter.pid is not None
    os.kill(painter.pid, signal.SIGKILL)

    with pytest.raises(PainterDied):
        painter.screen(ONE)
    with pytest.raises(ScreenForgotten):
        painter.screen(ONE)


@pytest.mark.parametrize(
    "then",
    [
        "pass",
        "break",
        "link.send(b'?')",
        "link.send(Packet({}).to_bytes())",
        "link.send(Packet({'ok': True}).to_bytes())",
        "link.send(Packet({'ok': False, 'facts': {}}).to_bytes())",
        f"link.send(Packet({{{OK}}}, b'[]').to_bytes())",
        f"link.send(Packet({{{OK}}}, b'nonsense').to_bytes())",
        f"\n    while 1: link.send(Packet({{{OK}, 'more': True}}).to_bytes())",
        f"\n    while 1: link.send(Packet({{{OK}, 'more': True}}, LONG).to_bytes())",
    ],
)
def test_a_painter_that_hangs_or_talks_nonsense_is_as_good_as_dead(then: str) -> None:
    with Painter(program=saying(then), request_timeout=1.0) as painter:
        with pytest.raises(PainterDied):
            painter.screen(ONE)

        assert painter.pid is None


@pytest.mark.parametrize(
    "program", [("/nonexistent",), ("/bin/true",), ("/bin/sleep", "99"), saying("")]
)
def test_a_painter_that_does_not_start_is_as_good_as_dead(
    program: tuple[str, ...],
) -> None:
    with (
        Painter(program=program, start_timeout=0.5) as painter,
        pytest.raises(PainterDied),
    ):
        painter.reset(ONE, SIZE)
