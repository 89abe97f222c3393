"""The user's own terminal, lent to a session and always restored.

Theory of operation
-------------------
While a session is shown, the terminal passes every key through, and the program inside
may switch it into modes of its own. However the display ends (detach, exit, an error,
SIGTERM, SIGHUP, SIGINT, SIGQUIT, or being stopped), both are undone: the line
discipline is as we found it, and modes that the program left on are switched off
(modes).

Signals that end us raise Leave wherever we are, because a stopped terminal can block a
write forever. Signals that do not end us set a flag and wake the code that waits on
`wake`.
"""

import contextlib
import os
import select
import signal
import termios
import tty
from types import FrameType
from typing import Any, Self

from holdfast.cli.early_terminal import EarlyTerminal
from holdfast.cli.modes import ModeWatch
from holdfast.cli.titles import TitleWatch
from holdfast.core.client.cleared_screen import cleared
from holdfast.model.colours import sgr_from
from holdfast.model.errors import NotATerminal
from holdfast.model.geometry import DEFAULT_SIZE, Size, clamped
from holdfast.model.settings import Settings
from holdfast.model.text import printable

LEAVING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
MARKING = (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT)

STOPPED = 500
"""Milliseconds to wait at the end for a terminal that accepts no output."""

_PUSH_TITLE, _POP_TITLE = b"\x1b[22;0t", b"\x1b[23;0t"
"""Have the terminal save the titles of window and icon, and restore them: a program
sets both with one sequence. Xterm's window operations."""

_UNTITLED = ("linux", "dumb", "")
"""Values of TERM without a title to set."""

MAX_TITLE = 120
"""Characters shown of a program's title."""

MAX_LINES = 3
"""Lines of one notice: most of the screen stays the program's."""

MAX_SAID = 1000
"""Characters of it; more does not fit those lines."""

MAX_KEPT = 256 * 1024
"""Bytes of output kept while something else is shown; after more it is painted anew."""

_ENTER, _EXIT = b"\x1b[?1049h", b"\x1b[?1049l"
_CANCEL = b"\x18"
"""Ends what a program has begun to say to the terminal."""

_PLAIN = b"\x1b[0m\x1b(B\x0f\x1b[H\x1b[2J"
"""Plain colours, ordinary letters, an empty screen."""

KEYS = 4096
"""Bytes read from the keyboard at once: as many as the kernel buffers."""


class Leave(BaseException):
    """A signal told us to end; not an error, and caught by nothing in between."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Terminal:
    """The terminal on `source` and `target`, raw while entered."""

    def __init__(
        self,
        source: int = 0,
        target: int = 1,
        early: EarlyTerminal | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Use a terminal, or go on with one that was taken for the first picture."""
        self.settings = settings or Settings()
        demand_terminal(source, target)
        self.source = source
        self.target = target
        self.has_new_size = False
        self.is_to_stop = False
        self.was_continued = False
        self.is_spoilt = False
        """Whether the screen must be painted anew: it was drawn over."""

        self._cover: _Cover | None = None
        self._is_anew = False
        self._watch = ModeWatch()
        self._titles = TitleWatch()
        self._has_title = False
        self._is_in_line = False
        self._before: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._is_leaving = self._is_closed = self._is_entered = False
        self._early_signals: list[int] = []
        self._painted = 0
        """Bytes at the beginning of what is shown that are on the screen already."""

        self.wake, self._waker = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self._waker, False)
        if early is not None and early.is_taken:
            self._before, self._handlers = early.before, early.handlers
            self._early_signals = early.signals
            self._watched(bytes(early.painted))

    def __enter__(self) -> Self:
        try:
            if not self.is_taken:
                self._before = termios.tcgetattr(self.source)
            for number in LEAVING:
                before = signal.signal(number, self._leave)
                self._handlers.setdefault(number, before)
            for number in MARKING:
                before = signal.signal(number, self._mark)
                self._handlers.setdefault(number, before)
            self._raw()
            self._is_entered = True
            self._heed_early()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the terminal back as it was, once."""
        if self._is_closed:
            return
        self._is_closed = self._is_leaving = True
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        os.close(self.wake)
        # A thread may still write to it, and the number may be reused by then.
        waker, self._waker = self._waker, -1
        os.close(waker)

    @property
    def is_entered(self) -> bool:
        """Whether it shows a session, raw and with signals heeded."""
        return self._is_entered

    @property
    def is_taken(self) -> bool:
        """Whether it has to be given back."""
        return bool(self._before)

    def has_painted(self, count: int) -> None:
        """Note that the first bytes to be shown are on the screen already."""
        self._painted = count

    def size(self) -> Size:
        """Return the size that the terminal reports."""
        try:
            found = os.get_terminal_size(self.target)
        except OSError:
            return DEFAULT_SIZE
        if 0 in found:
            return DEFAULT_SIZE  # It does not know.
        return clamped(found.columns, found.lines)

    def read(self) -> bytes:
        """Return keys that were pressed; none means that the terminal is gone."""
        try:
            return os.read(self.source, KEYS)
        except OSError:
            return b""

    def show_ahead(self, data: bytes) -> bool:
        """Print at once what `show` is given next, and tell whether that was done.

        What the terminal has not taken follows then.
        """
        if self._painted or self._is_anew or self._cover is not None:
            return False
        try:
            self._painted = os.write(self.target, data)
        except OSError:
            return False  # `show` finds out.
        self._watched(data[: self._painted])
        return True

    def show(self, data: bytes) -> None:
        """Print the session's output unchanged, except for what was painted early.

        Raises:
            Leave: The terminal is gone.

        """
        shown, self._painted = self._painted, max(0, self._painted - len(data))
        if self._is_anew and data:
            self._is_anew = False
            self.write(self._room_for(data))
        self.write(data[shown:])

    def write(self, data: bytes) -> None:
        """Print bytes unchanged.

        Raises:
            Leave: The terminal is gone.

        """
        if not data:
            return
        if self._cover is not None:
            self._cover.keep(data)
            return
        self._watched(data)
        self.draw(data)

    def draw(self, data: bytes) -> None:
        """Print a line of holdfast's that disappears before the program continues.

        Raises:
            Leave: The terminal is gone.

        """
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self.target, view) :]
        except OSError:
            raise Leave(signal.SIGHUP) from None

    # ── another screen over this one, and another session after it ────────

    def cover(self) -> None:
        """Show a screen of holdfast's until `uncover`; output meanwhile is kept."""
        if self._cover is None:
            off, on = self._watch.suspended()
            can_be = self._watch.can_be_covered
            self.draw(_CANCEL + off + (_ENTER if can_be else b"") + _PLAIN)
            self._cover = _Cover(on, can_be_left=can_be)

    def uncover(self) -> None:
        """Show the session as it was, with what has come meanwhile.

        If that cannot be done by itself, `is_spoilt` says so.
        """
        if (cover := self._cover) is None:
            return
        self._cover = None
        if cover.can_be_left:
            self.draw(_EXIT + cover.undoing)
            self.write(bytes(cover.kept))
        else:
            self.draw(cover.undoing)
        # The size may be another, but then it is painted anew anyway.
        self.is_spoilt |= cover.is_overfull or not cover.can_be_left

    def begins_anew(self) -> None:
        """Show another session from now on, in place of this one.

        The screen is cleared with the first that is shown of it, so that nothing
        flickers; or by `shows_nothing`.
        """
        self._is_anew, self.is_spoilt = True, False
        self._painted = 0

    def shows_nothing(self) -> None:
        """Note that the session has printed nothing yet."""
        if self._is_anew:
            self._is_anew = False
            self.write(self._room_for(b""))

    def _room_for(self, data: bytes) -> bytes:
        """Return what makes room for another session, whose output begins so."""
        # A keyframe makes room for itself.
        is_keyframe = data.startswith(cleared(0)[:8])
        return self._watch.undo() + (b"" if is_keyframe else cleared(self.size().rows))

    def overlay(self, *texts: str) -> int:
        """Show a notice on the first lines, and leave the rest alone.

        Returns how many lines it covers.

        The last line of a busy shell is where its prompt is: it would be hidden, and
        the next output printed across the notice.
        """
        size = self.size()
        width = max(1, size.columns - 1)
        said = [line for text in texts for line in _lines(f"[holdfast] {text}", width)]
        shown, look = said[: size.rows], self.look("notice")
        parts = [
            b"\x1b[%d;1H%s%s\x1b[0m\x1b[K" % (row, look, line.encode())
            for row, line in enumerate(shown, start=1)
        ]
        self.write(b"\x1b7" + b"".join(parts) + b"\x1b8")
        return len(shown)

    def leave_modes(self) -> None:
        """Undo the modes that were set, for something else to be shown."""
        if self._cover is None:
            self.write(self._watch.undo())
        else:  # It is painted anew afterwards: what is kept was for another view.
            self._cover.gives_up(self._watch.undo())

    @property
    def needs_title(self) -> bool:
        """Whether the title is not ours: not set yet, or the program has set it."""
        return not self._has_title or self._titles.was_set

    def program_title(self, text: str) -> None:
        """Take the title that the program has chosen, where it is not printed."""
        self._titles.tell(text)

    def title(self, text: str) -> None:
        """Set the terminal's title, with the program's own beside it.

        The one that it had is restored at the end. Ours comes first: however long the
        program's is, it does not push ours out of sight.
        """
        if os.environ.get("TERM", "") in _UNTITLED:
            return
        if not self._has_title:
            self.draw(_PUSH_TITLE)  # Ours, and not to be undone with the program's.
        self._has_title = True
        program = self._titles.text
        own = printable(program, MAX_TITLE)
        whole = f"{printable(text)} — {own}" if own else printable(text)
        self.write(b"\x1b]2;%s\x1b\\" % whole.encode())
        self._titles.forget(program)

    def look(self, what: str) -> bytes:
        """Return what makes text look as the settings say."""
        return b"\x1b[0;%sm" % (sgr_from(self.settings.colours[what]) or "").encode()

    def bell(self) -> None:
        """Signal that a key did nothing."""
        if self.settings.bell:
            self.write(b"\a")

    def call(self, text: str) -> None:
        """Call the user, who has to act, in the ways that the settings allow."""
        self.bell()
        if self.settings.desktop:
            self.write(b"\x1b]9;%s\x1b\\" % printable(text, MAX_SAID).encode())

    def drain_wake(self) -> None:
        """Clear the wake-up."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, KEYS)

    def stop(self) -> None:
        """Restore the terminal, stop, and take it again when continued.

        SIGSTOP cannot be ignored, so the process stops here, with the terminal
        restored, or not at all.
        """
        self.is_to_stop = False
        self._restore()
        os.kill(os.getpid(), signal.SIGSTOP)
        self.was_continued = True

    def retake(self) -> None:
        """Make the terminal raw again after another program had it."""
        self.was_continued = False
        self._raw()

    def _watched(self, data: bytes) -> None:
        if data:
            self._watch.feed(data)
            self._titles.feed(data)
            self._is_in_line = not data.endswith(b"\n")

    def _heed_early(self) -> None:
        """Do what signals asked for that came while all this was loaded."""
        while self._early_signals:
            number = self._early_signals.pop(0)
            handle = self._leave if number in LEAVING else self._mark
            handle(number, None)

    def _raw(self) -> None:
        tty.setraw(self.source, termios.TCSANOW)

    def nudge(self) -> None:
        """Wake the code that waits on `wake`, from another thread too."""
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self._waker, b"\0")

    def _restore(self) -> None:
        # A stopped terminal accepts no bytes, but always accepts its line discipline.
        with contextlib.suppress(OSError):
            poller = select.poll()
            poller.register(self.target, select.POLLOUT)
            if any(event & select.POLLOUT for _, event in poller.poll(STOPPED)):
                with contextlib.suppress(Leave):
                    self.uncover()
                # The next output starts at the left margin.
                is_cut = self._is_in_line and not self._watch.is_elsewhere
                self._is_in_line = False
                title = _POP_TITLE if self._has_title else b""
                self._has_title = False
                os.write(self.target, self._watch.undo() + title + b"\r\n" * is_cut)
        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(self.source, termios.TCSANOW, self._before)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        del frame
        if not self._is_leaving:
            self._is_leaving = True
            raise Leave(number)

    def _mark(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.has_new_size |= number == signal.SIGWINCH
        self.is_to_stop |= number == signal.SIGTSTP
        self.was_continued |= number == signal.SIGCONT
        self.nudge()


class _Cover:
    """What is over the session's screen, and what comes of the session meanwhile."""

    def __init__(self, undoing: bytes, *, can_be_left: bool) -> None:
        self.undoing = undoing
        self.can_be_left = can_be_left
        self.kept = bytearray()
        self.is_overfull = False

    def gives_up(self, undoing: bytes) -> None:
        """Note that what is below is left for something else to be shown."""
        self.undoing += undoing
        self.is_overfull = True
        self.kept.clear()

    def keep(self, data: bytes) -> None:
        """Keep output for later, unless it is too much to replay."""
        self.is_overfull |= len(self.kept) + len(data) > MAX_KEPT
        if self.is_overfull:
            self.kept.clear()
        else:
            self.kept += data


def _lines(text: str, width: int) -> list[str]:
    """Return `text` with control characters made visible, on as few lines as fit."""
    shown = printable(text, MAX_SAID)
    if len(shown) <= width:
        return [shown]
    from textwrap import wrap  # noqa: PLC0415  # rarely needed

    return wrap(shown, width, max_lines=MAX_LINES, placeholder="…")


def demand_terminal(source: int = 0, target: int = 1) -> None:
    """Do nothing if there is a terminal to show a session on.

    Raises:
        UsageError: There is none.

    """
    for fd, what in ((source, "standard input"), (target, "standard output")):
        if not os.isatty(fd):
            raise NotATerminal(what)
