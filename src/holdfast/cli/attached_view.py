"""What an attached terminal shows and sends, through holders that come and go.

An exchange (core.client.exchange): it is told what arrives on the link, and answers
what to send. The reader of the keyboard (cli.attached) tells it what the user types,
which goes out with the next `tick`. When the holder dies it continues after the last
byte shown; inputs without an answer are sent again under their own ids. The user
notices only if it takes long.
"""

import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from holdfast.cli.attach_keys import AttachKeys, Do, Effect, Say
from holdfast.cli.attached_screen import AttachedScreen
from holdfast.cli.next_session import NextSession
from holdfast.cli.prefix import Action, Detach, Look, Move, PrefixKeys, Press, Send
from holdfast.cli.terminal import Leave, Terminal
from holdfast.client import keeper
from holdfast.client.current_operator import our_pen
from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.entrance import Entrance
from holdfast.core.client.exchange import AttachedExchange
from holdfast.core.client.farewell import Farewell
from holdfast.core.relay.redial import Redial
from holdfast.model import errors
from holdfast.model.geometry import Size
from holdfast.model.inputs import InputKind
from holdfast.wire import messages
from holdfast.wire.codec import Message, lone_output
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Detach as DetachMessage
from holdfast.wire.presence import Who

_LEAD = len("[holdfast] ")

MOVING = 60.0
"""Seconds for a session to go on where it moves to: a large one takes its time."""

FOLLOWING = 0.05
"""Seconds between two looks for it there."""

SOON = 1.0
"""Seconds of interruption that are not worth a notice."""

ATTEMPT = 0.5
"""Seconds for one attempt to reattach, before the keyboard is checked again."""

LONGEST_WAIT = 5.0
"""Seconds between attempts to reach a remote host while a user watches."""

MAX_OPEN = 64
"""Inputs sent without an answer: well under what a holder queues."""

MAX_BACKLOG = 64 * 1024
"""Bytes typed that a program does not read; more is a cat on the keyboard."""


class Foreseen(NamedTuple):
    """How the next key is sent, whichever it is."""

    before: bytes
    after: bytes
    stops: bytes
    """The keys of which something else may come."""


class AttachedView(AttachedExchange[int]):
    """One session on one terminal; the result is the exit status."""

    def __init__(
        self,
        attachment: Attachment,
        terminal: Terminal,
        arrived: Callable[[Size | None], None],
        onward: NextSession,
    ) -> None:
        """Show a session; `arrived` is called when we are attached to it.

        It is given the session's size, if that stays other than the terminal's.
        `onward` has the session, and what the keys lead to that go to others.
        """
        super().__init__(attachment)
        self.has_come = False
        """Whether we are attached, and have taken the terminal."""

        self.is_over = False
        """Whether the session has ended, rather than us leaving it."""

        self.is_last: Callable[[], bool] = lambda: False
        """Tells whether nothing more has come that would be shown with this."""

        self._arrived = arrived
        self._session = onward.session
        self._terminal = terminal
        self._attach_keys = AttachKeys(
            onward.session.label, attachment, self._room, terminal.settings
        )
        self.screen = AttachedScreen(terminal, attachment, self._attach_keys)
        self._size = self.screen.size
        self._keys = PrefixKeys(terminal.settings)
        self._onward = onward
        self._backlog = bytearray()
        self._outbox: list[Message] = []
        self._retry_at = self._ask_at = 0.0
        self._was_seen = self._is_leaving = self._is_stale = False
        self._is_at_once = False
        """Whether the next link is dialled without a pause."""

        self._is_time_to_sign = False
        self._cut_at: float | None = None
        self._moves_until = 0.0
        self._redial = Redial(LONGEST_WAIT)
        self._early_size: messages.Cells | None = None

    def goes_on(self, size: messages.Cells, painted: int) -> None:
        """Note that we attached on a link that was opened earlier, with that size.

        So many bytes of what comes on it were painted before we were loaded.
        """
        self._early_size = size
        self._terminal.has_painted(painted)

    # ── what is done with the terminal ────────────────────────────────────

    @property
    def is_full(self) -> bool:
        """Whether enough output waits to be shown at once."""
        return self.screen.is_full

    def flush(self) -> None:
        """Show the output that waits, and who has the turn."""
        if self.screen.flush() and self._onward.news:
            self.screen.say(*self._onward.take_news())

    def typed(self, keys: bytes) -> None:
        """Take what the user typed; empty means the end of the terminal.

        Raises:
            Leave: The terminal is gone.

        """
        if not keys:
            raise Leave(signal.SIGHUP)
        if self._onward.typed(keys):
            self._go()
            return
        self.screen.pressed()
        for action in self._keys.typed(keys):
            self._do(action)

    def foresee(self) -> Foreseen | None:
        """Return how the next key is sent, if nothing else can come of it.

        Everything here is as `typed` and `tick` would find it, so this holds until
        anything else is taken.
        """
        attachment, onward, stops = self.attachment, self._onward, self._keys.stops
        if (
            not (self._is_attached and self.has_come and self.screen.is_plain)
            or attachment.mode is messages.Mode.OBSERVE
            or attachment.is_stalled
            or attachment.open_count >= MAX_OPEN
            or self._outbox
            or self._backlog
            or self._is_leaving
            or onward.goes_to is not None
            or onward.is_open
            or self._attach_keys.is_asking
            or stops is None
        ):
            return None
        return Foreseen(*attachment.foresee(), stops)

    def sent(self, key: bytes) -> None:
        """Note that a key was sent as it was foreseen."""
        self.attachment.submit(InputKind.KEYS, key, waits=False)

    def show_ahead(self, raw: bytes) -> bool:
        """Show at once what came, if it is output and no more; all else follows.

        Tell whether it was shown.
        """
        output = lone_output(raw) if self._is_attached else None
        if output is None or output.offset != self.attachment.offset:
            return False
        return self.screen.show_ahead(output.data)

    def _do(self, action: Action) -> None:
        match action:
            case Send(data):
                self._keep(self.screen.typed(self._answered(data)))
            case Press(act):
                self._perform(self._attach_keys.pressed(act))
            case Look(sight):
                self._outbox += self.screen.look(sight)
            case Move(_, ahead):
                if said := self._onward.moves(action):
                    self.screen.say(said)
                self._go(ahead)
            case Detach():
                self._leave()

    def _go(self, ahead: bytes = b"") -> None:
        """Leave for another session, if there is one to go to."""
        if self._onward.goes_to is not None and not self._is_leaving:
            self._leave()
        self._attach_keys.label = self._onward.session.label
        if ahead:
            self.typed(ahead)

    def _leave(self) -> None:
        if self._is_attached:
            self._is_leaving = True  # After what was typed before.
        else:
            self.result = 0

    def signalled(self) -> None:
        """Do what signals asked for.

        Raises:
            Unavailable: The screen must be repainted, on another link.

        """
        terminal = self._terminal
        if terminal.is_to_stop:
            self._onward.close()
            terminal.stop()
        if terminal.was_continued or terminal.is_spoilt:
            if terminal.was_continued:
                terminal.retake()
            terminal.is_spoilt = False
            self.screen.was_taken()
            raise self._anew()  # Something else was drawn on the screen.
        if self.screen.is_to_restart:
            self.screen.is_to_restart = False
            raise self._anew()
        if terminal.has_new_size:
            terminal.has_new_size = False
            self._onward.redraw()
            self.screen.resized()
            self._outbox += self._size.arrived()

    # ── while attached ────────────────────────────────────────────────────

    def entrance(self) -> Entrance:
        """Attach with our size, and have the screen painted."""
        size = self._early_size or self._cells()
        return Entrance(self.attachment, size, keyframe=True)

    def attached(self, attached: messages.Attached, now: float) -> list[Message]:
        """Start over on this link."""
        self._attach_keys.heard(attached)
        self.screen.resized()
        self._size.told(attached.size)
        claim = self._size.arrived()
        if not self.has_come:
            self.has_come, self.screen.rolled_off = True, attached.start
            size, ours = attached.size.to_size(), self._terminal.size()
            self._arrived(None if claim or size == ours else size)
            # From here on a signal tells of another size.
            self._terminal.has_new_size |= self._terminal.size() != ours
            self._onward.has_come = True
            if attached.end == 0:
                self._terminal.shows_nothing()
            if ahead := self._onward.take_ahead():
                self.typed(ahead)
        if self._cut_at is not None and now - self._cut_at > SOON:
            self.screen.say("reconnected")
        self._was_seen = self.attachment.offset is not None
        self.screen.attached(is_new=not self._was_seen)
        self._cut_at, self._redial = None, Redial(LONGEST_WAIT)
        self._moves_until = 0.0
        # The answer has the frozen state and the queue.
        return [Who(), *claim]

    def hear(self, message: Message, now: float) -> list[Message]:
        """Show output as soon as it comes: all else may follow it."""
        if not (isinstance(message, messages.Output) and self._is_attached):
            return super().hear(message, now)
        if printed := self.attachment.heard(message):
            self.screen.printed(printed)
        self._was_seen = True
        if self.is_last():
            self.flush()
        return []

    def heard(self, news: News, now: float) -> list[Message]:
        """Show it, or say what it means.

        Raises:
            Unsettled: The live session is gone.

        """
        was_seen, self._was_seen = self._was_seen, self.attachment.offset is not None
        error = None if news.answer is None else news.answer[1]
        is_of_size = self._size.heeds(news)
        is_of_screen = self.screen.heard(news.message, news.printed, now)
        if not (is_of_size or is_of_screen):
            self._mean(news.message, error, was_seen=was_seen)
        return []

    def _mean(
        self, message: Message, error: errors.HoldfastError | None, *, was_seen: bool
    ) -> None:
        match message:
            case messages.Exited(status):
                self._end(status)
            case messages.Gap(start, end) if was_seen:
                # Said between what came before it and what comes after.
                self._tell([Say(f"{end - start} bytes of output are gone")])
            case messages.Refuse(refused=FrameKind.SIGN):
                pass  # The logbook says what is signed; nobody typed this.
            case _ if error is not None:
                self._tell(self._attach_keys.refused(error))
            case _:
                self._tell(self._attach_keys.heard(message))

    def ticked(self, now: float) -> list[Message]:
        """Send typed keys, including those typed while there was no link."""
        sent, self._outbox = [*self._outbox, *self.screen.tick(now)], []
        if self._size.is_due and now >= self._retry_at:
            self._retry_at = now + timeouts.RETRY
            sent += self._size.arrived()
        if self.attachment.is_stalled:
            if now >= self._retry_at:
                self._retry_at = now + timeouts.RETRY
                sent += self.attachment.open
        else:
            sent += self._typed_keys()
        if self._onward.is_open:
            self._onward.ticked(now)
            self._go()
        if self._is_leaving:
            self.result = 0
        # Our key is loaded when it is time to sign: keys are not echoed meanwhile.
        self._is_time_to_sign = (
            not self._has_pen and self.attachment.signing.wait(now) == 0
        )
        return sent

    def deadline(self, now: float) -> float:
        """Return when to look again."""
        until = self.screen.deadline()
        if self.attachment.is_stalled or self._size.is_due:
            return min(until, now + timeouts.RETRY)
        if (wait := self.attachment.signing.wait(now)) is not None:
            until = min(until, now + wait)
        escape_at = self._onward.deadline
        return until if escape_at is None else min(until, escape_at)

    def wants_pen(self) -> bool:
        """Tell whether it is time to sign, and our key is not loaded."""
        return self._is_time_to_sign and not self._has_pen

    # ── coming and going ──────────────────────────────────────────────────

    def leave(self, now: float) -> Farewell | None:
        """Sign the inputs that are not signed."""
        attachment = self.attachment
        is_signed = not attachment.open and attachment.signing.is_done
        if not self._has_pen and not is_signed:
            self.take_pen(our_pen(attachment.session))
        return super().leave(now)

    def last_acts(self) -> list[Message]:
        """Detach, unless the session or the terminal has ended."""
        return [DetachMessage()] if self._is_leaving else []

    def dials(self, now: float) -> float:
        """Return how long a link may take; not long while a user watches."""
        patience = super().dials(now)
        return ATTEMPT if self.has_come else min(patience, self._onward.patience)

    def pause(self, now: float) -> float:
        """Return how long to wait before the next attempt.

        A holder of this machine is back at once or never. A network route comes back
        eventually.
        """
        is_at_once, self._is_at_once = self._is_at_once, False
        if now < self._moves_until:
            return FOLLOWING
        if is_at_once or not self._session.host:
            return 0.0
        return self._redial.wait_after(now, os.urandom(1)[0] / 255)

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Wait for a successor, and tell the user if it takes long."""
        self._is_attached = False
        was_early, self._early_size = self._early_size is not None, None
        self._terminal.has_painted(0)  # Another link shows it anew.
        if self._is_stale or self.result is not None:
            self._is_stale, self._is_at_once = False, True
            return
        if was_early and not self.has_come:
            return  # The holder that we began with has a successor.
        if self._cut_at is None:
            self._cut_at, self._ask_at, self._is_at_once = now, now + SOON, True
        if self._is_moving(error, now):
            return
        is_lost = not self._session.host and now - self._cut_at > timeouts.LOSS
        if is_lost or not self.has_come:
            raise error
        if now < self._ask_at:
            return
        self._say_cut()
        # An unreachable host cannot say anything.
        if not isinstance(error.__cause__, errors.HoldfastError):
            self._ask_at = now + SOON
            self._ask_keeper()

    def _say_cut(self) -> None:
        if self._session.host:
            hint = self._terminal.settings.hint("detach", "detaches")
            self.screen.say("; ".join(filter(None, ("reconnecting…", hint))))

    def _is_moving(self, error: errors.SessionUnreachable, now: float) -> bool:
        """Tell whether to wait for the session where it went: it takes a moment."""
        if isinstance(error.__cause__, errors.SessionLeft):
            self._moved(now)
        return now < self._moves_until

    def _moved(self, now: float) -> None:
        self._moves_until = now + MOVING
        self._session = self._onward.moved(self._session)
        self.screen.say(f"moving to {self._session.host}…")

    def _ask_keeper(self) -> None:
        """Ask whether the session still runs."""
        try:
            known = {one.id: one for one in keeper.sessions(host=self._session.host)}
        except errors.Unavailable:
            return  # Without a keeper this cannot be known, so keep waiting.
        session = known.get(self.attachment.session)
        if session is None:
            raise errors.SessionLost(self.attachment.incarnation or 1)
        if session.exit is not None:
            self._end(session.exit)

    # ── inside ────────────────────────────────────────────────────────────

    def _anew(self) -> errors.SessionUnreachable:
        """Return what has the screen shown anew, on another link."""
        self.attachment.offset = None
        self._is_stale = True
        return errors.SessionUnreachable(self.attachment.session, "it is painted anew")

    def _end(self, status: int) -> None:
        self.screen.flush()
        self.is_over = True
        self.result = status if status >= 0 else 128 - status

    def _cells(self) -> messages.Cells:
        size = self._terminal.size()
        return messages.Cells(size.columns, size.rows)

    def _typed_keys(self) -> list[Message]:
        if not self._backlog or self.attachment.open_count >= MAX_OPEN:
            return []
        data = bytes(self._backlog)
        self._backlog.clear()
        claim = self._size.typing()
        return [*claim, self.attachment.submit(InputKind.KEYS, data, waits=False)]

    def _answered(self, data: bytes) -> bytes:
        """Return the part of `data` that did not answer a question."""
        if not self._attach_keys.is_asking:
            return data
        effects, rest = self._attach_keys.answered(data)
        self._perform(effects)
        return rest

    def _tell(self, effects: list[Effect]) -> None:
        """Show a notice after the output that precedes it."""
        if effects:
            self.screen.flush()
            self._perform(effects)

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Say(text, loud):
                    self.screen.say(text)
                    if loud:
                        self._terminal.call(text)
                case Do(message) if self._is_attached:
                    self._outbox.append(message)
                case Do():
                    self.screen.say("the session does not answer")

    def _room(self) -> int:
        """Return how long a notice may be without wrapping."""
        return self._terminal.size().columns - 1 - _LEAD

    def _keep(self, data: bytes) -> None:
        if not data:
            return
        if self.attachment.mode is messages.Mode.OBSERVE:
            hint = self._terminal.settings.hint("detach", "detaches")
            told = "; ".join(filter(None, ("you are only watching", hint)))
            self.screen.say(told)
        elif len(data) > MAX_BACKLOG - len(self._backlog):
            self.screen.bell()
        else:
            self._backlog += data
