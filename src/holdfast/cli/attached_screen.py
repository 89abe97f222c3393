"""What an attached terminal shows of its session: raw or framed, title and notices."""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from holdfast.cli.attach_keys import AttachKeys
from holdfast.cli.attached_size import AttachedSize
from holdfast.cli.notice_board import NoticeBoard
from holdfast.cli.prefix import Sight
from holdfast.cli.terminal import Terminal
from holdfast.core.client.attachment import Attachment
from holdfast.core.view.view_choice import FRAMED, RAW, ViewChoice
from holdfast.model.errors import PainterDied
from holdfast.model.geometry import Size
from holdfast.wire.codec import Message
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Gap, Keyframe, Refuse, Resized
from holdfast.wire.presence import Who

if TYPE_CHECKING:
    from holdfast.cli.framed_view import FramedView

MAX_WRITE = 256 * 1024
"""Bytes gathered before they are shown, so that keys are read in between."""

MAX_LOSSES = 5
"""Pictures lost, after which a session is shown raw: its output kills painters."""

MAX_EARLY = 4096
"""Bytes typed for a look back that is not there yet."""

_PANNED = {
    Sight.PAN_LEFT: (0, -1),
    Sight.PAN_RIGHT: (0, 1),
    Sight.PAN_UP: (-1, 0),
    Sight.PAN_DOWN: (1, 0),
}

ASK_AFTER = 2.0
"""Seconds after which a framed view asks again how the session stands."""


class AttachedScreen:
    """One session on one terminal."""

    def __init__(
        self, terminal: Terminal, attachment: Attachment, keys: AttachKeys
    ) -> None:
        """Show a session, by itself as the terminal's settings say."""
        self.rolled_off = 0
        """Bytes printed before we attached that are lost, until this has been said."""

        self.is_to_restart = False
        """Whether the screen has to be shown anew, on another link."""

        self.size = AttachedSize(attachment, self._claimed_size, lambda: keys.is_alone)
        self._terminal = terminal
        self._attachment = attachment
        self._keys = keys
        self._choice = ViewChoice(terminal.settings.view)
        self._board = NoticeBoard(terminal, attachment, lambda: keys.is_asking)
        self._framed: FramedView | None = None
        self._shown: list[bytes] = []
        self._shown_size = 0
        self._title = self._state = ""
        self._is_held = self._is_painting = False
        self._is_lost = False
        """Whether our picture is not that of the session any more."""

        self._losses = 0
        self._early = b""
        self._size_now: Size | None = None
        self._ask_at = 0.0

    # ── what comes ────────────────────────────────────────────────────────

    @property
    def is_full(self) -> bool:
        """Whether enough output waits to be shown at once."""
        return self._shown_size >= MAX_WRITE

    @property
    def is_plain(self) -> bool:
        """Whether keys go to the session, and nothing else comes of them."""
        size = self.size
        return (
            self.deadline() == math.inf
            and not (self._is_lost or self._choice.is_looking_back)
            and (self._framed is None or not self._framed.is_drawn)
            and not size.is_due
            and size.ours() == size.session
        )

    def show_ahead(self, data: bytes) -> bool:
        """Show at once what is printed next, if it goes to the terminal as it is."""
        if self._shown or self._is_held or self._choice.is_framed:
            return False
        return self._terminal.show_ahead(data)

    def attached(self, *, is_new: bool) -> None:
        """Note that a link is up; a new screen waits for its frame, if it gets one."""
        self._is_held = is_new and self._wants_frame()
        if is_new:
            self._choice.is_framed = False  # Until there is a picture of it.
        if self._is_painting:  # The rest of the keyframe is lost with the old link.
            self._is_painting = False
            self._is_lost = self._choice.is_framed
            if self._framed is not None:
                self._framed.cut_off()

    def printed(self, data: bytes) -> None:
        """Take what the session printed; it is shown with the next `flush`."""
        self._shown.append(data)
        self._shown_size += len(data)

    def heard(self, message: Message, printed: bytes, now: float) -> bool:
        """Take what came of the screen; tell whether that was all about it."""
        match message:
            case Keyframe():
                self.flush()
                self._painted(message, printed, now)
            case Resized():
                if self._framed is not None and self._choice.is_framed:
                    self.flush()
                    self._try(lambda view: view.resized(message))
            case Gap() if self._choice.is_framed:
                self._is_lost = True  # It is drawn anew, with nothing missing.
            case Evidence(state=state, program=program):
                self._state = f"{state} in {program}" if program else state
                self._touch()
            case Refuse(refused=FrameKind.ATTACH):
                self._refused(now)
            case Refuse(refused=FrameKind.STATE_REQUEST):
                pass
            case _:
                return self._board.heard(message, now)
        return True

    def flush(self) -> bool:
        """Show the output that waits, and who has the turn; tell if there was any."""
        shown, self._shown, self._shown_size = self._shown, [], 0
        if shown and not self._is_held:
            data = b"".join(shown)
            if self._choice.is_framed:
                self._try(lambda view: view.printed(data))
            else:
                self._terminal.show(data)
        if self._choice.is_framed:
            self._try(lambda view: view.draw(time.monotonic()))
        self._set_title()
        if self.rolled_off and shown:
            count, self.rolled_off = self.rolled_off, 0
            self.say(f"{count} earlier bytes of output are gone")
        return bool(shown)

    # ── what is said and typed ────────────────────────────────────────────

    def say(self, *texts: str) -> None:
        """Show a notice for a while."""
        now = time.monotonic()
        self._board.show([*texts], now, is_framed=self._choice.is_framed)
        self._touch()

    def bell(self) -> None:
        """Signal that a key did nothing, or that the user has to act."""
        self._terminal.bell()

    def pressed(self) -> None:
        """Note that a key was pressed: what was said has been read."""
        if self._board.key(time.monotonic()):
            self._touch()

    def typed(self, data: bytes) -> bytes:
        """Take what was typed; return the part that is for the session."""
        view = self._framed
        if self._choice.is_looking_back and (view is None or view.copying is None):
            self._early = (self._early + data)[:MAX_EARLY]
            return b""
        if view is None or not view.is_drawn:
            return data
        try:
            keys = view.typed(data)
        except PainterDied:
            self._lose()
            return data
        self._looked_back(view)
        self._touch()
        return keys

    def _looked_back(self, view: "FramedView") -> None:
        """Take what keys have come to, of those for what has scrolled away."""
        if view.copied:
            self.say(view.copied)
            view.copied = ""
        if view.copying is None:
            self._choice.is_looking_back = False

    def look(self, sight: Sight) -> list[Message]:
        """Show the session in another way; return what to send."""
        if sight is Sight.LOOK_BACK:
            self._look_back()
            return []
        if sight in _PANNED:
            self._pan(*_PANNED[sight])
            return []
        ours, session = self._ours(), self.size.expected
        self._choice.toggle(ours, ours if self.size.may_claim else session)
        return self.size.arrived()

    def _pan(self, rows: int, columns: int) -> None:
        if self._choice.is_framed:
            self._try(lambda view: view.pan(rows, columns))
        else:
            self.bell()

    def _look_back(self) -> None:
        """Begin to look at what has scrolled away, as soon as it is there."""
        self._choice.look_back()
        if self._choice.is_framed:
            self._begin_look_back()

    # ── time ──────────────────────────────────────────────────────────────

    def tick(self, now: float) -> list[Message]:
        """Do what the clock demands; return what to send."""
        leaves, sent = self._board.tick(now)
        if leaves:
            self._touch()
        ours, session = self._ours(), self.size.expected
        is_due = self._choice.asks(ours, session, now)
        if is_due or (self._is_lost and self._choice.asks_again(now)):
            sent.append(self._anew())
        if self._choice.is_framed:
            self._try(lambda view: self._tick(view, now))
            if now >= self._ask_at:
                self._ask_at = now + ASK_AFTER
                sent += [Who(), StateRequest()]
        return sent

    def _tick(self, view: "FramedView", now: float) -> None:
        was_copying = view.copying is not None
        view.tick(now)
        if was_copying:
            self._looked_back(view)

    def deadline(self) -> float:
        """Return when to call `tick`."""
        ours, session = self._ours(), self.size.expected
        due = self._choice.deadline(ours, session)
        at = self._board.deadline()
        if due is not None:
            at = min(at, due)
        if self._framed is not None and self._choice.is_framed:
            at = min(at, self._framed.deadline(), self._ask_at)
        return at

    def drawn_by(self) -> float:
        """Return when the frame is to be drawn again; infinity if it is as it was."""
        return self._framed.deadline() if self._framed is not None else math.inf

    def resized(self) -> None:
        """Note that the terminal may have another size."""
        self._size_now = None
        self._touch()

    def was_taken(self) -> None:
        """Note that another program had the terminal."""
        if self._framed is not None:
            self._framed.is_drawn = False

    def close(self) -> None:
        """Put away what was drawn."""
        if self._framed is not None:
            self._framed.leave()
            self._framed.close()

    # ── inside ────────────────────────────────────────────────────────────

    def _ours(self) -> Size:
        """Return the terminal's size; it is asked for when it may be another."""
        if self._size_now is None:
            self._size_now = self._terminal.size()
        return self._size_now

    def _wants_frame(self) -> bool:
        return self._choice.wants_frame(self._ours(), self.size.expected)

    def _claimed_size(self) -> Size:
        """Return the size that the session would have for us alone."""
        size = self._ours()
        if self._choice.preferred == FRAMED and size.rows > 1:
            return Size(size.columns, size.rows - 1)
        return size

    def _anew(self) -> Message:
        asked = self._attachment.attach(None, keyframe=True)
        return msgspec.structs.replace(asked, after=None, incarnation=None)

    def _painted(self, part: Keyframe, printed: bytes, now: float) -> None:
        if not self._is_painting:
            ours, session = self._ours(), self.size.expected
            is_framed = self._choice.painted(ours, session, now)
            self._is_held = self._is_lost = False
            self._board.forget()
            if not is_framed and self._framed is not None:
                self._framed.leave()
        self._is_painting = part.more
        if not self._choice.is_framed:
            self._terminal.show(printed)
            if self._board.texts and not part.more:
                self._board.show(self._board.texts, now, is_framed=False)
            return
        if self._framed is None:
            self._framed = self._new_frame()
        self._try(lambda view: view.keyframe(part))
        if not part.more and self._choice.is_framed:
            self._enter()

    def _enter(self) -> None:
        view = self._framed
        if view is not None and not view.is_drawn:
            view.enter()
        if self._choice.is_looking_back:
            self._begin_look_back()
        self._try(lambda view: view.draw(time.monotonic()))

    def _begin_look_back(self) -> None:
        """Show what has scrolled away, and do what was typed for it."""
        early, self._early = self._early, b""
        self._try(lambda view: view.look_back())
        if self._is_lost:
            return  # It begins with the next keyframe.
        self._touch()
        if early:
            self.typed(early)

    def _new_frame(self) -> "FramedView":
        from holdfast.cli.framed_view import FramedView  # noqa: PLC0415  # not for raw

        name = f"{self._attachment.session}/{self._attachment.client}"
        return FramedView(
            name, self._terminal, lambda: self._keys.standing(self._state)
        )

    def _touch(self) -> None:
        if self._framed is not None:
            self._framed.notices = self._board.texts
            self._framed.touch()

    def _try(self, act: Callable[["FramedView"], None]) -> None:
        """Draw something, if there is a picture."""
        if self._framed is None or self._is_lost:
            return
        try:
            act(self._framed)
        except PainterDied:
            self._lose()

    def _lose(self) -> None:
        """Note that our picture is gone: another is begun with a keyframe."""
        self._is_lost = True
        self._losses += 1
        if self._losses >= MAX_LOSSES:
            self._give_up("it cannot be drawn here")

    def _refused(self, now: float) -> None:
        """Note that there is no keyframe."""
        if not self._choice.refused(now):
            return
        if self._is_held or self._choice.is_framed:
            self._give_up("the painter gives no picture")
        else:
            self.say("the painter gives no picture")

    def _give_up(self, why: str) -> None:
        """Show the session raw, whatever its size."""
        self._choice.preferred, self._choice.is_looking_back = RAW, False
        self._choice.is_framed = self._is_held = self._is_lost = False
        if self._framed is not None:
            self._framed.leave()
        self.is_to_restart = True
        self.say(f"shown raw: {why}")

    def _set_title(self) -> None:
        # Keep the turn in the title, even when a program sets the title.
        wanted = self._keys.title
        if self._framed is not None and self._choice.is_framed:
            self._terminal.program_title(self._framed.title)
        if wanted != self._title or self._terminal.needs_title:
            self._title = wanted
            self._terminal.title(wanted)
