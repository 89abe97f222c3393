"""Notices on an attached terminal, which leave again.

Theory of operation
-------------------
A notice covers the first rows of the screen until the next key, or for STAY seconds. In
a frame it is drawn with it. In the raw view the rows below it are known to the session
alone: its screen is asked for, and they are drawn from that. If more was printed
meanwhile, the answer is about the past, and it is asked again.
"""

import math
from collections.abc import Callable

from holdfast.cli.terminal import Terminal
from holdfast.core.client.attachment import Attachment
from holdfast.wire.codec import Message
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Refuse
from holdfast.wire.screens import Screen, ScreenRequest

STAY = 4.0
"""Seconds that a notice is shown: long enough to read a line twice."""

AGAIN = 0.3
"""Seconds between two looks at a screen that changes."""

MAX_LOOKS = 50
"""Looks for one notice: a program that prints all the time has drawn over it."""


class NoticeBoard:
    """What we say on one terminal, and the rows that are to come back."""

    def __init__(
        self, terminal: Terminal, attachment: Attachment, holds: Callable[[], bool]
    ) -> None:
        """Show notices; one that `holds` is a question, and stays until a key."""
        self.texts: list[str] = []
        """What is to be read now."""

        self._terminal = terminal
        self._attachment = attachment
        self._holds = holds
        self._leaves_at = math.inf
        self._rows = 0
        self._looks = 0
        self._look_at = math.inf
        self._parts: list[Screen] | None = None

    def show(self, texts: list[str], now: float, *, is_framed: bool) -> None:
        """Show a notice; in the framed view, the frame draws it."""
        self.texts, self._leaves_at = texts, now + STAY
        if not is_framed:
            self._rows = max(self._rows, self._terminal.overlay(*texts))
            self._look_at, self._looks = math.inf, 0

    def key(self, now: float) -> bool:
        """Note that a key was pressed; tell whether a notice leaves."""
        return self._leave(now) if self.texts else False

    def forget(self) -> None:
        """Note that the screen was painted anew."""
        self._rows, self._look_at = 0, math.inf

    def deadline(self) -> float:
        """Return when to call `tick`."""
        return min(self._leaves_at, self._look_at)

    def tick(self, now: float) -> tuple[bool, list[Message]]:
        """Do what the clock demands; tell whether a notice leaves, and what to send."""
        leaves = False
        if now >= self._leaves_at:
            leaves = not self._holds() and self._leave(now)
            self._leaves_at = now + STAY if self.texts else math.inf
        if now < self._look_at:
            return leaves, []
        self._looks += 1
        self._look_at = now + 1 if self._looks < MAX_LOOKS else math.inf
        self._parts = []
        return leaves, [ScreenRequest(cells=True)]

    def heard(self, message: Message, now: float) -> bool:
        """Take a part of the screen; tell whether it was one for us."""
        if self._parts is None:
            return False
        if isinstance(message, Refuse) and message.refused == FrameKind.SCREEN_REQUEST:
            self._parts, self._look_at = None, now + AGAIN
            return True
        if not isinstance(message, Screen):
            return False
        self._parts.append(message)
        if not message.more:
            parts, self._parts = self._parts, None
            self._restore(parts, now)
        return True

    def _leave(self, now: float) -> bool:
        self.texts, self._leaves_at = [], math.inf
        if self._rows:
            self._look_at, self._looks = now, 0
        return True

    def _restore(self, parts: list[Screen], now: float) -> None:
        # Without a notice it need not be loaded.
        from holdfast.core.client.screen_question import seen_from  # noqa: PLC0415
        from holdfast.core.view.rows import Piece, cut, painted  # noqa: PLC0415

        seen = seen_from(parts)
        if self.texts or self._look_at == math.inf:
            return  # Another notice is there, or the rows are.
        if seen.offset != self._attachment.offset:
            self._look_at = now + AGAIN
            return
        columns = self._terminal.size().columns
        drawn = []
        for row in range(self._rows):
            pieces = tuple(
                Piece(run.text, run.foreground, run.background, run.look)
                for run in seen.screen.runs
                if run.row == row
            )
            line = painted(cut(pieces, 0, columns - 1))
            drawn.append(b"\x1b[%d;1H\x1b[m\x1b[K%b" % (row + 1, line))
        self._terminal.write(b"\x1b7" + b"".join(drawn) + b"\x1b8")
        self.forget()
