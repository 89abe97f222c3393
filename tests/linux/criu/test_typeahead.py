import os
import select
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux.criu.typeahead import replay, rescue

Terminal = tuple[int, int]


@pytest.fixture
def old() -> Iterator[Terminal]:
    yield from terminal()


@pytest.fixture
def new() -> Iterator[Terminal]:
    yield from terminal()


def terminal() -> Iterator[Terminal]:
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def waits(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0.2)[0])


def typed(master: int, keys: bytes) -> None:
    """Type something, and see its echo."""
    os.write(master, keys)
    assert waits(master)
    os.read(master, 4096)


def test_a_whole_line_is_read_in_the_other_terminal(
    old: Terminal, new: Terminal
) -> None:
    typed(old[0], b"make test\r")

    found = rescue(old[0])
    assert found == b"make test\n"
    assert not waits(old[1])
    replay(new[0], found)

    assert os.read(new[1], 99) == b"make test\n"


def test_half_a_line_can_be_finished_in_the_other(old: Terminal, new: Terminal) -> None:
    typed(old[0], b"make cleam\x7fn")

    replay(new[0], rescue(old[0]))
    assert not waits(new[1]), "half a line was handed out as a whole one"
    os.write(new[0], b"er\r")

    assert os.read(new[1], 99) == b"make cleaner\n"


def test_keys_of_a_program_that_reads_each_of_them(
    old: Terminal, new: Terminal
) -> None:
    for _, slave in (old, new):
        tty.setraw(slave)
    os.write(old[0], b"\x03:wq\r\x04\x1b[A")

    replay(new[0], rescue(old[0]))

    assert os.read(new[1], 99) == b"\x03:wq\r\x04\x1b[A"


def test_nothing_is_shown_a_second_time(old: Terminal, new: Terminal) -> None:
    typed(old[0], b"some\rmore")

    replay(new[0], rescue(old[0]))

    assert not waits(old[0])
    assert not waits(new[0])


def test_the_settings_are_as_before(old: Terminal, new: Terminal) -> None:
    before = termios.tcgetattr(old[1]), termios.tcgetattr(new[1])
    typed(old[0], b"some")
    replay(new[0], rescue(old[0]))
    assert (termios.tcgetattr(old[1]), termios.tcgetattr(new[1])) == before


def test_nothing_typed_is_nothing_rescued(old: Terminal) -> None:
    assert rescue(old[0]) == b""


def test_what_is_no_terminal_is_an_error() -> None:
    with Path("/dev/null").open("rb") as file, pytest.raises(OSError, match="ioctl"):
        rescue(file.fileno())
