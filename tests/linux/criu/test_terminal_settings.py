import os
import pty
import termios
import tty
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from holdfast.linux.criu.terminal_settings import set_terminal, terminal_of
from holdfast.model.session_record import Cells

KEY = "tty[8800:1b]"
SIZE = Cells(80, 24)


@pytest.fixture(name="masters")
def two_terminals() -> Iterator[tuple[int, int]]:
    one, other = pty.openpty(), pty.openpty()
    yield one[0], other[0]
    for fd in (*one, *other):
        os.close(fd)


def cooked(_: int) -> None:
    pass


def without_echo(fd: int) -> None:
    now = termios.tcgetattr(fd)
    now[3] &= ~termios.ECHO
    now[6][termios.VEOF] = b"\x05"
    termios.tcsetattr(fd, termios.TCSANOW, now)


@pytest.mark.parametrize("setting", [cooked, tty.setraw, tty.setcbreak, without_echo])
def test_another_terminal_is_set_as_the_first_was(
    masters: tuple[int, int], setting: Callable[[int], object]
) -> None:
    one, other = masters
    setting(one)

    set_terminal(other, terminal_of(one, KEY, SIZE))

    assert termios.tcgetattr(other) == termios.tcgetattr(one)


def test_what_another_kernel_counts_differently_is_left_as_it_is(
    masters: tuple[int, int],
) -> None:
    one, other = masters
    tty.setraw(one)
    before = termios.tcgetattr(other)
    found = terminal_of(one, KEY, SIZE)

    set_terminal(other, replace(found, control=found.control[:4]))

    assert termios.tcgetattr(other) == before
