"""The user's terminal, taken for the first picture of a session.

`terminal` does all of this and more, and takes it over from here. Until then signals
are noted, and raise only where a terminal that takes nothing could keep us for ever.
"""

import _signal  # type: ignore[import-not-found]  # `signal` is slow to load
import os
import termios
import tty

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

LEAVING = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT)
MARKING = (_signal.SIGWINCH, _signal.SIGTSTP, _signal.SIGCONT)


class Interrupted(BaseException):
    """A signal told us to end while we painted."""


class EarlyTerminal:
    """The terminal on `source` and `target`, from the first picture on."""

    def __init__(self, source: int = 0, target: int = 1) -> None:
        self.source = source
        self.target = target
        self.painted = bytearray()
        """What was painted, for the watchers of modes and titles."""

        self.before: list[Any] = []
        """How the line discipline was."""

        self.handlers: dict[int, Any] = {}
        """What was done about signals."""

        self.signals: list[int] = []
        """Those that came and are still to be heeded."""

        self._is_painting = False

    @property
    def is_taken(self) -> bool:
        """Whether the terminal is ours, and to be given back."""
        return bool(self.before)

    def size(self) -> tuple[int, int]:
        """Return columns and rows as the terminal says; zeros if it does not know.

        Raises:
            OSError: It is no terminal.

        """
        found = os.get_terminal_size(self.target)
        return found.columns, found.lines

    def take(self) -> None:
        """Pass every key through from now on, and note signals."""
        self.before = termios.tcgetattr(self.source)
        for number in (*LEAVING, *MARKING):
            self.handlers[number] = _signal.signal(number, self._signalled)
        tty.setraw(self.source, termios.TCSANOW)

    def paint(self, data: bytes) -> None:
        """Print what the session printed, as it is.

        Raises:
            Interrupted: A signal told us to end.
            OSError: The terminal is gone.

        """
        self.painted += data
        view = memoryview(data)
        self._is_painting = True
        try:
            while view:
                view = view[os.write(self.target, view) :]
        finally:
            self._is_painting = False

    def _signalled(self, number: int, frame: "FrameType | None") -> None:
        del frame
        self.signals.append(number)
        if self._is_painting and number in LEAVING:
            raise Interrupted
