"""The user's terminal while the overview is on it: taken, drawn on, given back."""

import contextlib
import os
import select
import signal
import termios
import tty
from types import FrameType
from typing import Any

from holdfast.cli.colour_depth import depth
from holdfast.term.canvas import Canvas, difference

_TAKE = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1000h\x1b[?1006h\x1b[?2004h"
"""Another screen, no cursor, no wrapping; tell of the mouse and of what is pasted."""

_GIVE_BACK = b"\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[?7h\x1b[0m\x1b[?25h\x1b[?1049l"

CHUNK = 512
"""Bytes written at once: a terminal that is ready takes so many without blocking."""

STOPPED = 500
"""Milliseconds to wait at the end for a terminal that accepts no output."""

LEAVING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

_PLAIN = ("dumb", "")


class Left(BaseException):
    """A signal told us to end before there was a loop to be told."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def is_fit() -> bool:
    """Tell whether standard input and output are a terminal that can be drawn on."""
    is_terminal = os.isatty(0) and os.isatty(1)
    return is_terminal and os.environ.get("TERM", "") not in _PLAIN


class Screen:
    """The terminal on standard input and output."""

    def __init__(self) -> None:
        self._before: list[Any] = []
        self._shown: Canvas | None = None
        self._unsent = b""
        self._depth = depth()

    @property
    def is_taken(self) -> bool:
        """Whether the terminal is ours now."""
        return bool(self._before)

    @property
    def is_behind(self) -> bool:
        """Whether the terminal has not taken all of the last picture."""
        return bool(self._unsent)

    def size(self) -> tuple[int, int]:
        """Return columns and rows; a terminal that does not know has 80 and 24."""
        with contextlib.suppress(OSError):
            found = os.get_terminal_size(1)
            if found.columns and found.lines:
                return found.columns, found.lines
        return 80, 24

    def take(self) -> None:
        """Take every key, and switch to the alternate screen."""
        self._before = termios.tcgetattr(0)
        tty.setraw(0, termios.TCSANOW)
        self._shown = None
        self._unsent = _TAKE
        self.send()

    def give_back(self) -> None:
        """Restore the terminal. Safe to call twice."""
        if not self._before:
            return
        self._unsent = b""
        # A stopped terminal accepts no bytes, but always accepts its line discipline.
        with contextlib.suppress(OSError):
            if _is_ready(STOPPED):
                os.write(1, _GIVE_BACK)
        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(0, termios.TCSANOW, self._before)
        self._before = []

    def forget(self) -> None:
        """Draw everything the next time: something else has been written there."""
        self._shown = None

    def draw(self, canvas: Canvas) -> None:
        """Show a picture, or as much of it as the terminal takes now.

        Raises:
            OSError: The terminal is gone.

        """
        if not self.is_behind:
            self._unsent = difference(self._shown, canvas, self._depth)
            self._shown = canvas
        self.send()

    def send(self) -> None:
        """Write what is unsent, as long as the terminal takes it.

        Raises:
            OSError: The terminal is gone.

        """
        while self._unsent and _is_ready(0):
            self._unsent = self._unsent[os.write(1, self._unsent[:CHUNK]) :]


def raise_when_told() -> None:
    """Make signals raise Left, until other handlers are set."""

    def leave(number: int, frame: FrameType | None) -> None:
        del frame
        raise Left(number)

    for number in LEAVING:
        signal.signal(number, leave)


def _is_ready(wait: int) -> bool:
    poller = select.poll()
    poller.register(1, select.POLLOUT)
    return any(event & select.POLLOUT for _, event in poller.poll(wait))
