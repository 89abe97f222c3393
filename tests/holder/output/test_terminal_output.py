import os
import tty

import pytest

from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.output.terminal_output import Output
from holdfast.linux import pty
from holdfast.model.geometry import Size
from holdfast.term.queries import QueryKind


class Printer:
    def __init__(self) -> None:
        self.memory = bytearray(HEADER + 4096)
        self.window = StreamWindow.create(memoryview(self.memory))
        self.master, self.slave = pty.open_pty(Size(80, 24))
        tty.setraw(self.slave)
        self.output = Output(self.master, self.window)

    def prints(self, data: bytes) -> list[QueryKind]:
        os.write(self.slave, data)
        before = self.window.end + len(self.window.ahead)
        found: list[QueryKind] = []
        while self.window.end + len(self.window.ahead) == before and not found:
            found += [query.kind for query in self.output.take() or ()]
        return found

    def dies(self) -> None:
        self.window = StreamWindow.open(memoryview(self.memory))
        self.output = Output(self.master, self.window)

    @property
    def seen(self) -> bytes:
        return bytes(self.window.read(self.window.start, 4096))


@pytest.fixture
def printer() -> Printer:
    return Printer()


def test_what_is_printed_is_in_the_window(printer: Printer) -> None:
    printer.prints(b"one ")
    printer.prints(b"two")

    assert printer.seen == b"one two"


def test_a_query_is_taken_out_and_told(printer: Printer) -> None:
    asked = printer.prints(b"before\x1b[6nafter")

    assert asked == [QueryKind.CURSOR]
    assert printer.seen == b"beforeafter"


def test_half_a_sequence_waits_and_is_not_seen(printer: Printer) -> None:
    printer.prints(b"text\x1b[")

    assert (printer.seen, printer.window.ahead) == (b"text", b"\x1b[")


@pytest.mark.parametrize(
    ("rest", "asked", "seen"),
    [(b"31mred", [], b"text\x1b[31mred"), (b"6nmore", [QueryKind.CURSOR], b"textmore")],
)
def test_a_successor_goes_on_with_half_a_sequence(
    printer: Printer, rest: bytes, asked: list[QueryKind], seen: bytes
) -> None:
    printer.prints(b"text\x1b[")
    printer.dies()

    assert printer.output.take_up() == ()
    assert printer.prints(rest) == asked
    assert printer.seen == seen


def test_a_successor_makes_seen_what_was_read_and_not_yet_admitted(
    printer: Printer,
) -> None:
    room = printer.window.room(100)
    room[:5] = b"a\x1b[6n"
    printer.window.took(5)
    printer.dies()

    assert [query.kind for query in printer.output.take_up()] == [QueryKind.CURSOR]
    assert printer.seen == b"a"


def test_a_query_before_half_a_sequence_leaves_the_half_ahead(printer: Printer) -> None:
    printer.prints(b"\x1b[6nshown\x1b[3")

    assert (printer.seen, printer.window.ahead) == (b"shown", b"\x1b[3")


def test_the_end_of_all_writers_is_told(printer: Printer) -> None:
    os.close(printer.slave)

    assert printer.output.take() is None
