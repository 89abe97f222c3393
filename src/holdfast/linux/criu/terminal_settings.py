"""Saves and restores a terminal's settings."""

import termios

from holdfast.model.session_record import Cells
from holdfast.wire.image_manifest import Terminal
from holdfast.wire.messages import Cells as WireCells

_LOCAL, _CONTROL = 3, 6


def terminal_of(master: int, key: str, size: Cells) -> Terminal:
    """Return how a terminal is set; `key` is what CRIU calls it.

    Raises:
        OSError: It is gone.

    """
    found = termios.tcgetattr(master)
    control = b"".join(
        bytes([one]) if isinstance(one, int) else one for one in found[_CONTROL]
    )
    modes = tuple(found[:_CONTROL])
    return Terminal(key, WireCells(size.columns, size.rows), modes, control)


def set_terminal(master: int, terminal: Terminal) -> None:
    """Set a terminal as another one was.

    Raises:
        OSError: It is gone.

    """
    known = termios.tcgetattr(master)
    control: list[bytes | int] = [bytes([one]) for one in terminal.control]
    if len(control) != len(known[_CONTROL]):
        return  # Of a kernel that counts them differently: what CRIU has set stays.
    # Python wants these two as numbers, if lines are not wanted.
    if not terminal.modes[_LOCAL] & termios.ICANON:
        for number in (termios.VMIN, termios.VTIME):
            control[number] = terminal.control[number]
    settings: list[int | list[bytes | int]] = [*terminal.modes, control]
    termios.tcsetattr(master, termios.TCSANOW, settings)
