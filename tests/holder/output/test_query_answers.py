import math
import os
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.output.query_answers import AGAIN, Answers
from holdfast.holder.poll import Poll
from holdfast.holder.timers import Timers
from holdfast.linux import pty
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.term.queries import Query, QueryKind

SIZE = Size(80, 24)
PRIMARY = Query(QueryKind.PRIMARY_ATTRIBUTES, 0, b"\x1b[c", (0,))
CURSOR = Query(QueryKind.CURSOR, 0, b"\x1b[6n", (6,))
CLIPBOARD = Query(QueryKind.CLIPBOARD, 0, b"\x1b]52;c;?\x07")


class Terminal:
    """A terminal whose program asks, without a painter anywhere."""

    def __init__(self) -> None:
        self.master, self.slave = pty.open_pty(SIZE)
        tty.setraw(self.slave)
        os.set_blocking(self.slave, False)
        window = StreamWindow.create(memoryview(bytearray(HEADER + 4096)))
        self.poll, self.timers = Poll(), Timers()
        painter = PainterLink(SessionId("s_one"), window, self.poll, self.timers, SIZE)
        self.is_writing = False
        self.answers = Answers(
            self.master, 0, painter, self.timers, lambda: self.is_writing
        )

    def asked(self, *queries: Query) -> None:
        self.answers.asked(queries, lambda: SIZE)

    def read(self) -> bytes:
        try:
            return os.read(self.slave, 65536)
        except BlockingIOError:
            return b""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    os.environ["HOLDFAST_RUNTIME_DIR"] = str(folder)
    made = Terminal()
    yield made
    made.poll.close()
    os.close(made.master)
    os.close(made.slave)
    del os.environ["HOLDFAST_RUNTIME_DIR"]


def test_what_needs_no_look_at_the_screen_is_answered_at_once(
    terminal: Terminal,
) -> None:
    terminal.asked(PRIMARY, CLIPBOARD)

    assert terminal.read() == b"\x1b[?62;22c"
    assert terminal.timers.first == math.inf


def test_without_a_painter_the_questions_after_the_cursor_are_answered(
    terminal: Terminal,
) -> None:
    terminal.asked(CURSOR, PRIMARY)

    assert terminal.read() == b"\x1b[?62;22c"


def test_nothing_is_answered_while_an_input_is_half_written(
    terminal: Terminal,
) -> None:
    terminal.is_writing = True
    terminal.asked(PRIMARY)
    terminal.answers.tick()
    assert terminal.read() == b""
    assert 0 < terminal.timers.first - time.monotonic() <= AGAIN

    terminal.is_writing = False
    terminal.answers.tick()
    assert terminal.read() == b"\x1b[?62;22c"


def test_a_program_that_does_not_read_gets_whole_answers_later(
    terminal: Terminal,
) -> None:
    for _ in range(12_000):
        terminal.asked(PRIMARY)
    read = b""
    while more := terminal.read():
        read += more
        terminal.answers.tick()

    assert read == b"\x1b[?62;22c" * (len(read) // 9)
    assert len(read) > 65536
