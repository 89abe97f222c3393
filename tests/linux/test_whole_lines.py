"""What the kernel makes of typed lines, against what we say it does."""

import os
import select
import termios
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.provenance.staged import StagedLine
from holdfast.linux import pty
from holdfast.model.geometry import Size
from holdfast.model.ids import actor_id

BOT = actor_id(b"\2" * 32)
LAST = b"\x16.END\n"
"""Ends what stands there; its first byte makes the second a plain one."""

typed = st.lists(
    st.sampled_from([*b"ab _-\x7f\x08\x15\x16\x17\r\n\x04\x18\xc3\xa9"]), max_size=24
).map(bytes)
KILL, LITERAL, CONTROL = 0x18, 0, b"\0"


class Terminal:
    def __init__(self) -> None:
        self.master, self.slave = pty.open_pty(Size(80, 24))
        flags = termios.tcgetattr(self.slave)
        flags[3] &= ~termios.ECHO
        termios.tcsetattr(self.slave, termios.TCSANOW, flags)

    def change(self, **special: bytes) -> None:
        flags = termios.tcgetattr(self.slave)
        for name, value in special.items():
            flags[6][getattr(termios, name)] = value
        termios.tcsetattr(self.slave, termios.TCSANOW, flags)

    def handed_over(self, keys: bytes) -> list[bytes]:
        """Return what a program reads, one piece for each line."""
        os.write(self.master, keys)
        pieces: list[bytes] = []
        while not pieces or not pieces[-1].endswith(b"END\n"):
            assert select.select([self.slave], [], [], 5)[0], pieces
            pieces.append(os.read(self.slave, 4096))
        return pieces

    def close(self) -> None:
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


CHANGES = [
    {},
    {"VKILL": b"\0"},
    {"VKILL": b"\x18"},
    {"VWERASE": b"\0", "VERASE": b"\x08"},
    {"VEOF": b"\x18", "VKILL": b"\x15"},
    {"VEOL": b"-"},
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_kernel_hands_over_what_we_say(
    terminal: Terminal, change: dict[str, bytes]
) -> None:
    new = {"VKILL": b"\x15", "VWERASE": b"\x17", "VERASE": b"\x7f"}
    terminal.change(**{**new, "VEOF": b"\x04", "VEOL": b"\0", **change})
    found = pty.discipline(terminal.master)

    @given(typed)
    def compare(keys: bytes) -> None:
        line = StagedLine()
        told = line.typed(BOT, keys + LAST, found, echo_off=False)
        pieces = terminal.handed_over(keys + LAST)

        assert len(pieces) == len(told)
        for piece, one in zip(pieces, told, strict=True):
            if not one.is_edited:
                assert piece in {one.data, one.data + b"\n", one.data + b"-"}

    compare()


@pytest.mark.parametrize("keys", [b"rm x\x03", b"rm x\x1c", b"rm x\x1a"])
def test_a_signal_throws_away_what_was_typed(terminal: Terminal, keys: bytes) -> None:
    pieces = terminal.handed_over(keys + LAST)

    assert pieces == [b".END\n"]
    line = StagedLine()
    line.typed(BOT, keys, pty.discipline(terminal.master), echo_off=False)
    assert line.stands().is_empty


def test_what_the_terminal_is_set_to_is_read_anew(terminal: Terminal) -> None:
    terminal.change(VKILL=b"\x18")
    assert pty.discipline(terminal.master).kill == 0x18
    terminal.change(VKILL=b"\0")
    assert pty.discipline(terminal.master).kill == 0
