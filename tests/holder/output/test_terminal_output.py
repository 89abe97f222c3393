import os
import tty

import pytest

from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.output.terminal_output import Output
from holdfast.linux import pty
from holdfast.model.geometry import Size
from holdfast.term.attention import Call
from holdfast.term.queries import QueryKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import encode


class Printer:
    def __init__(self) -> None:
        self.memory = bytearray(HEADER + 4096)
        self.window = StreamWindow.create(memoryview(self.memory))
        self.master, self.slave = pty.open_pty(Size(80, 24))
        tty.setraw(self.slave)
        self.calls: list[Call] = []
        self.output = Output(self.master, self.window, self.calls.append)

    def prints(self, data: bytes) -> list[QueryKind]:
        os.write(self.slave, data)
        before = self.window.end + len(self.window.ahead)
        found: list[QueryKind] = []
        while self.window.end + len(self.window.ahead) == before and not found:
            found += [query.kind for query in self.output.take() or ()]
        return found

    def dies(self) -> None:
        self.window = StreamWindow.open(memoryview(self.memory))
        self.output = Output(self.master, self.window, self.calls.append)

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


def test_a_call_is_told_and_stays_in_the_stream(printer: Printer) -> None:
    printer.prints(b"\x1b]9;come\x07\a")

    assert printer.calls == [Call("message", "come")]
    assert printer.seen == b"\x1b]9;come\x07\a"


def test_a_call_is_told_before_it_is_part_of_the_stream(printer: Printer) -> None:
    seen: list[bytes] = []
    printer.output = Output(
        printer.master, printer.window, lambda _: seen.append(printer.seen)
    )

    printer.prints(b"\a")

    assert seen == [b""]


@pytest.mark.parametrize("cut", range(1, 10))
def test_the_end_of_a_string_is_no_bell_after_a_death_amid_it(
    printer: Printer, cut: int
) -> None:
    title = b"\x1b]0;title\x07"
    printer.prints(title[:cut])
    printer.dies()
    printer.output.take_up()

    printer.prints(title[cut:])

    assert printer.calls == []


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_call_outlives_a_death_amid_it(printer: Printer, cut: int) -> None:
    said = b"\x1b]9;come\x07"
    printer.prints(said[:cut])
    printer.dies()
    printer.output.take_up()

    printer.prints(said[cut:])

    assert printer.calls == [Call("message", "come")]


def test_a_little_is_written_down_as_clients_are_sent_it(printer: Printer) -> None:
    printer.prints(b"one")
    assert printer.output.frame == encode(wire.Output(0, b"one"))
    printer.prints(b"two")
    assert printer.output.frame == encode(wire.Output(3, b"two"))


def test_what_is_taken_out_or_waits_is_not(printer: Printer) -> None:
    printer.prints(b"a\x1b[c")
    assert printer.output.frame == b""
    printer.prints(b"\x1b[")
    assert printer.output.frame == b""


@pytest.mark.parametrize("news", [b"a\x07", b"\x1b[c"])
def test_something_else_is_finished_before_news(printer: Printer, news: bytes) -> None:
    interrupted: list[int] = []
    printer.output = Output(
        printer.master,
        printer.window,
        lambda _: interrupted.append(2),
        lambda: interrupted.append(1),
    )

    printer.prints(b"plain")
    assert interrupted == []
    printer.prints(news)

    assert interrupted[0] == 1


STREAM = b"a\x1b]0;title\x07b\x1b[31mc\x1b[6nd\xc2\x9b5ne \x07\x1bPq\x1b\\f\x1b[c~"


def test_a_stream_that_comes_letter_by_letter_is_taken_as_one(printer: Printer) -> None:
    whole = Printer()
    asked = whole.prints(STREAM)
    found = [kind for byte in STREAM for kind in printer.prints(bytes([byte]))]

    assert (printer.seen, found) == (whole.seen, asked)
    assert printer.calls == whole.calls
    assert asked == [
        QueryKind.CURSOR,
        QueryKind.STATUS,
        QueryKind.PRIMARY_ATTRIBUTES,
    ]


def test_a_query_after_letters_is_found_where_it_was(printer: Printer) -> None:
    for letter in (b"x", b"y", b"z"):
        printer.prints(letter)
    os.write(printer.slave, b"\x1b[6n")
    while not (queries := printer.output.take()):
        pass

    assert [query.at for query in queries] == [3]


def test_a_look_at_a_terminal_that_has_nothing_finds_nothing(printer: Printer) -> None:
    printer.prints(b"x")

    assert printer.output.take() == ()
    assert (printer.output.count, printer.output.frame) == (0, b"")
