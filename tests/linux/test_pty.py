import os
import select
import termios
import tty
from collections.abc import Iterator

import pytest
from tests.linux.trees import eventually

from holdfast.linux import pty
from holdfast.model.geometry import Size


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.open_pty(Size(80, 24))
    yield master, slave
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize(
    ("typed", "is_one"),
    [
        (b"\x03", True),
        (b"\x03\x03", True),
        (b"\x03" * 9, False),
        (b"\x03x", False),
        (b"x\x03", False),
        (b"\x04", False),
        (b"", False),
    ],
)
def test_only_interrupt_keys_interrupt(
    terminal: tuple[int, int], typed: bytes, *, is_one: bool
) -> None:
    assert pty.discipline(terminal[0]).is_interrupt(typed) is is_one


@pytest.mark.parametrize("key", [b"\x00", b"\x07"])
def test_the_key_is_what_the_terminal_says(
    terminal: tuple[int, int], key: bytes
) -> None:
    master, slave = terminal
    attributes = termios.tcgetattr(slave)
    attributes[6][termios.VINTR] = key
    termios.tcsetattr(slave, termios.TCSANOW, attributes)

    assert not pty.discipline(master).is_interrupt(b"\x03")
    assert pty.discipline(master).is_interrupt(key) is (key != b"\x00")


def test_a_program_that_reads_keys_itself_is_not_interrupted(
    terminal: tuple[int, int],
) -> None:
    master, slave = terminal
    attributes = termios.tcgetattr(slave)
    attributes[3] &= ~termios.ISIG
    termios.tcsetattr(slave, termios.TCSANOW, attributes)

    assert not pty.discipline(master).is_interrupt(b"\x03")


def flooded(slave: int) -> None:
    """Have more in the terminal than one read of the kernel returns."""
    tty.setraw(slave)
    os.set_blocking(slave, False)
    assert os.write(slave, b"x" * 20_000) > 2 * pty.SHORT_READ + 4096


def drained(master: int) -> None:
    """Take all that is left; the kernel's own thread may still be at work."""
    while select.select([master], [], [], 0.05)[0]:
        os.read(master, 65_536)


def test_a_flood_is_taken_in_several_pieces_at_once(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = terminal
    monkeypatch.setattr(pty, "LONGEST_READ", 60.0)
    pieces: list[int] = []

    def were_several() -> bool:
        drained(master)
        flooded(slave)
        pieces.clear()
        size = pty.read_into(master, memoryview(bytearray(65_536)), pieces.append)
        assert size == sum(pieces)
        return len(pieces) > 1

    eventually("there were several pieces at once", were_several)


def test_no_more_is_taken_of_a_flood_when_it_has_taken_long(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = terminal
    monkeypatch.setattr(pty, "LONGEST_READ", 0.0)
    pieces: list[int] = []

    def was_left() -> bool:
        drained(master)
        flooded(slave)
        pieces.clear()
        pty.read_into(master, memoryview(bytearray(65_536)), pieces.append)
        assert len(pieces) == 1
        return bool(pty.read_into(master, memoryview(bytearray(65_536)), pieces.append))

    eventually("some of it was left", was_left)


def test_no_piece_but_the_first_is_read_into_little_room(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = terminal
    monkeypatch.setattr(pty, "LONGEST_READ", 60.0)
    pieces: list[int] = []

    def was_little_left() -> bool:
        drained(master)
        flooded(slave)
        pieces.clear()
        size = pty.read_into(master, memoryview(bytearray(5000)), pieces.append)
        # How much the kernel hands out at once is its own affair.
        room_of_each = [5000 - sum(pieces[:nth]) for nth in range(len(pieces))]
        assert all(room >= pty.SHORT_READ for room in room_of_each)
        assert size == sum(pieces)
        is_more_there = bool(select.select([master], [], [], 10)[0])
        return is_more_there and 0 < 5000 - size < pty.SHORT_READ

    eventually("there was little room left, and more to read", was_little_left)
    assert pty.read_into(master, memoryview(bytearray(10)), pieces.append) == 10
