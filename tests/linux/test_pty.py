import os
import termios
from collections.abc import Iterator

import pytest

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
