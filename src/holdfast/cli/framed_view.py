"""A session drawn on the user's terminal in a frame, with a status line.

What is drawn is decided in `core.view`; this has it painted and written. Loaded only
when a session is framed.
"""

import base64
import math
import os
import time
from collections import deque
from collections.abc import Callable

from holdfast.cli.colour_depth import terminal_depth
from holdfast.cli.terminal import Terminal
from holdfast.client.own_picture import OwnPicture
from holdfast.core.view import layout, mouse
from holdfast.core.view.copy_keys import EMACS, VI
from holdfast.core.view.copy_mode import WHEEL, Copied, CopyMode
from holdfast.core.view.frames import DrawnFrame
from holdfast.core.view.status_line import StatusFacts
from holdfast.core.view.viewport import Viewport
from holdfast.model.geometry import Size
from holdfast.term.key_reader import ESCAPE_WAIT, KeyReader, Mouse, Pressed
from holdfast.wire.messages import Keyframe, Resized

FRAME = 1 / 30
"""Seconds between two frames: as often as people see a difference."""

MAX_COPIED = 74_994
"""Bytes that are put on the clipboard: as many as every terminal takes, in base64."""

UNSHAPED = 2
"""The cursor's shape if the program has set none: the terminal keeps its own."""

_ENTER = b"\x1b[?1049h\x1b[?7l\x1b[?25l"


class FramedView:
    """One session in one frame."""

    def __init__(
        self, name: str, terminal: Terminal, standing: Callable[[], StatusFacts]
    ) -> None:
        """Draw a session under a name of our own; `standing` says how it stands."""
        self.is_drawn = False
        """Whether the terminal shows the frame."""

        self.notices: list[str] = []
        self.copied = ""
        """What to say of what was copied."""

        self.copying: CopyMode | None = None
        self._terminal = terminal
        self._standing = standing
        self._picture = OwnPicture(name)
        self._seen = layout.Picture(Size(1, 1), ())
        # The session's own colours, which NO_COLOR is not about.
        self._frame = DrawnFrame(terminal_depth())
        self._viewport = Viewport()
        self._keys = KeyReader()
        self._escape_at = math.inf
        self._half = b""
        self._resizes: deque[Resized] = deque()
        self._modes: frozenset[int] = frozenset()
        self._shape = UNSHAPED
        self._is_painting = self._is_stale = False
        self._drawn_at = -math.inf

    # ── what the session prints ───────────────────────────────────────────

    def keyframe(self, part: Keyframe) -> None:
        """Begin with a keyframe, or go on with one.

        Raises:
            PainterDied: There is no painter.

        """
        if not self._is_painting:
            self._resizes.clear()
            self._picture.reset(part.size.to_size(), part.offset, b"")
        self._picture.draw(part.data)
        self._is_painting = part.more
        self._is_stale = True

    def cut_off(self) -> None:
        """Note that the rest of a keyframe does not come."""
        self._is_painting = False

    def resized(self, message: Resized) -> None:
        """Note that the session has another size from some byte on.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        self._resizes.append(message)
        self.printed(b"")

    def printed(self, data: bytes) -> None:
        """Take what the session printed next.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        while self._resizes and self._resizes[0].offset <= self._picture.at + len(data):
            first = self._resizes.popleft()
            before = max(0, first.offset - self._picture.at)
            self._picture.feed(data[:before])
            data = data[before:]
            self._picture.resize(first.size.to_size())
            self._is_stale = True
        if data:
            self._picture.feed(data)
            self._is_stale = True

    # ── what is drawn ─────────────────────────────────────────────────────

    def enter(self) -> None:
        """Take the terminal, which showed something else."""
        self._terminal.leave_modes()
        self._terminal.write(_ENTER)
        self._modes, self._shape = frozenset(), UNSHAPED
        self._frame.forget()
        self.is_drawn = self._is_stale = True

    def leave(self) -> None:
        """Give the terminal back, for something else to be shown."""
        if self.is_drawn:
            self.is_drawn = False
            self.copying = None
            self._terminal.leave_modes()

    def touch(self) -> None:
        """Note that something about the frame has changed."""
        self._is_stale = True

    def deadline(self) -> float:
        """Return when to call `tick`."""
        return min(self._draw_at(), self._escape_at)

    def tick(self, now: float) -> None:
        """Do what the clock demands.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        if now >= self._escape_at:
            self._escape_at = math.inf
            self._copy(self._keys.waited())
        self.draw(now)

    def _draw_at(self) -> float:
        due = self.is_drawn and self._is_stale and not self._is_painting
        return self._drawn_at + FRAME if due else math.inf

    def draw(self, now: float) -> None:
        """Draw what has changed, if it is time.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        if now < self._draw_at():
            return
        self._drawn_at, self._is_stale = now, False
        terminal, standing = self._terminal.size(), self._standing()
        if self.copying is not None:
            self.copying.resized(layout.room_on(terminal))
            frame = layout.copy_frame(self.copying, terminal, standing, self.notices)
        else:
            self._seen = self._picture.screen()
            frame = layout.live_frame(
                self._seen, self._viewport, terminal, standing, self.notices
            )
        self._terminal.write(self._moded() + self._frame.draw(frame))

    @property
    def title(self) -> str:
        """The title that the program has chosen."""
        return self._seen.title

    def close(self) -> None:
        """Put the picture away."""
        self._picture.close()

    def _moded(self) -> bytes:
        """Return what puts the terminal into the modes that the program is in."""
        is_ours = self.copying is not None
        wanted = mouse.terminal_modes(self._seen.modes, is_ours=is_ours)
        parts = [b"\x1b[?%dl" % mode for mode in sorted(self._modes - wanted)]
        parts += [b"\x1b[?%dh" % mode for mode in sorted(wanted - self._modes)]
        if self._seen.shape != self._shape:
            self._shape = self._seen.shape
            parts.append(b"\x1b[%d q" % self._shape)
        self._modes = wanted
        return b"".join(parts)

    # ── what is typed ─────────────────────────────────────────────────────

    def typed(self, data: bytes) -> bytes:
        """Take what was typed; return the part that is for the session.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        if self.copying is not None:
            self._copy(self._keys.read(data))
            waits = self.copying is not None and self._keys.waits
            self._escape_at = time.monotonic() + ESCAPE_WAIT if waits else math.inf
            return b""
        data, self._half = self._half + data, b""
        if half := mouse.half_report(data):
            data, self._half = data[: -len(half)], half
        sizes = self._seen.size, layout.room_on(self._terminal.size())
        sorted_out = mouse.sort_out(data, self._seen.modes, self._viewport, sizes)
        keys = sorted_out.keys
        for one in sorted_out.ours:
            keys += self._moused(one)
        return keys

    def pan(self, rows: int, columns: int) -> None:
        """Look at another part of a larger session, by half of what is shown."""
        room = layout.room_on(self._terminal.size())
        step = max(1, room.rows // 2), max(1, room.columns // 2)
        self._viewport.pan(rows * step[0], columns * step[1])
        self._is_stale = True

    def look_back(self) -> None:
        """Begin to look at what has scrolled away.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        rows, cursor = self._picture.everything()
        room = layout.room_on(self._terminal.size())
        keys = EMACS if "emacs" in _editor() else VI
        self.copying = CopyMode(rows, room, cursor, keys)
        self._keys = KeyReader()
        self._is_stale = True

    def _moused(self, one: Mouse) -> bytes:
        """Do with the mouse what a program does not want to do."""
        if self._seen.is_alternate:
            if not one.wheel:
                return b""
            lead = b"\x1bO" if 1 in self._seen.modes else b"\x1b["
            return (lead + (b"A" if one.wheel < 0 else b"B")) * WHEEL
        if one.wheel < 0 or one.is_drag:
            self.look_back()
            if self.copying is not None:
                self.copying.pressed(one)
        return b""

    def _copy(self, pressed: list[Pressed]) -> None:
        for key in pressed:
            if self.copying is None:
                return
            copied = self.copying.pressed(key)
            self._is_stale = True
            if copied is not None:
                self._put_on_clipboard(copied)
            if self.copying.is_over:
                self.copying = None

    def _put_on_clipboard(self, copied: Copied) -> None:
        raw = copied.text.encode()
        kept = raw[:MAX_COPIED]
        self._terminal.write(b"\x1b]52;c;%b\a" % base64.b64encode(kept))
        cut = f", the first {MAX_COPIED} of {len(raw)} bytes" if kept != raw else ""
        count = len(copied.text.splitlines())
        self.copied = f"copied {count} line{'' if count == 1 else 's'}{cut}"


def _editor() -> str:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
