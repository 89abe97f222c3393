"""What one client knows of one session, whichever link it has at the moment.

Theory of operation
-------------------
Links die with holders; what is known here outlives them: how far the stream has
been seen, who has the turn, and which inputs have no answer yet. On a new link
the same client attaches after the last byte it has, and sends the unanswered
inputs again, unchanged and in order, under the ids they had. A holder answers
an id it knows with what became of it, so nothing happens twice.

Invariants:

I1  Every byte of the stream is handed out at most once, and in order.
I2  An input keeps its id and its bytes until it is answered.
I3  Ids are counted from 1 without gaps, as far as the holder counts them.

Some refusals leave the holder's count where it was (UNCOUNTED): such an input
stays unanswered, and goes again later, before anything newer.
"""

import hashlib
from collections.abc import Callable  # noqa: TC003  # read by people too
from typing import NamedTuple

from holdfast.core.client.cleared_screen import cleared
from holdfast.core.client.signing import Signing
from holdfast.model.errors import (
    ApprovalTimeout,
    Busy,
    DeniedByOperator,
    HoldfastError,
    InputCut,
    InputGap,
    OutcomeUnknown,
    TooManyClients,
    TurnMoved,
)
from holdfast.model.ids import (
    FIRST_INCARNATION,
    NO_EPOCH,
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    SessionId,
)
from holdfast.model.inputs import InputKind
from holdfast.wire import messages
from holdfast.wire.codec import Message, around_key, error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.signatures import Signed

UNCOUNTED = frozenset({Busy.code, TooManyClients.code, InputGap.code})
"""Refusals after which the holder still waits for the same id."""


def _say_nothing(_: messages.Pending) -> None:
    pass


class News(NamedTuple):
    """What came, and what it means to one client."""

    message: Message
    printed: bytes
    """What it adds to the screen, often nothing."""

    answer: tuple[int, HoldfastError | None] | None
    """Which input it settles, and the error if that was not applied."""


class Attachment:
    """One client's view of one session, kept from link to link."""

    def __init__(
        self,
        session: SessionId,
        client: ClientId,
        secret: bytes,
        mode: messages.Mode = messages.Mode.OPERATE,
    ) -> None:
        self.session = session
        self.client = client
        self.mode = mode
        self.incarnation: Incarnation | None = None
        self.epoch: Epoch = NO_EPOCH
        self.holder: ActorId | None = None
        self.us: ActorId | None = None
        self.others: tuple[messages.Operator, ...] = ()
        self.offset: int | None = None
        """The stream has been seen up to here; None before the first byte."""

        self.is_stalled = False
        """Whether inputs wait to be sent again because the holder had no room."""

        self.pending: messages.Pending | None = None
        """Our inputs that wait for approval."""

        self.held: Callable[[messages.Pending], None] = _say_nothing
        """Called when one of our inputs starts to wait for approval."""

        self.signing = Signing(session, client, secret)
        """What of our inputs is signed, and what is to be."""

        self._secret = secret
        self._foreign = NO_EPOCH
        """The last epoch in which another operator may have had the turn."""

        self._is_painting = False
        self._waited: float | None = None
        self._open: dict[int, messages.Submit] = {}
        self._next = 1

    @property
    def open(self) -> list[messages.Submit]:
        """The inputs without an answer, oldest first: what a new link begins with."""
        return [self._open[sequence] for sequence in sorted(self._open)]

    @property
    def open_count(self) -> int:
        """How many inputs have no answer."""
        return len(self._open)

    @property
    def has_sent(self) -> bool:
        """Whether an input was made."""
        return self._next > 1

    @property
    def life(self) -> Incarnation:
        """Which life of the session this is about: the first until we are told."""
        return self.incarnation or FIRST_INCARNATION

    def resume(self) -> list[Message]:
        """Return what to send again on a new link, once attached."""
        said = self.signing.again()
        return [*self.open, *([] if said is None else [said])]

    @property
    def may_write(self) -> bool:
        """Whether an input would be ours to make: our turn, or nobody's."""
        return self.mode is messages.Mode.OPERATE and self.holder in ("", self.us)

    def attach(self, size: messages.Cells | None, *, keyframe: bool) -> messages.Attach:
        """Return the first message on a new link."""
        return messages.Attach(
            session=self.session,
            client=self.client,
            mode=self.mode,
            size=size,
            incarnation=None if self.offset is None else self.incarnation,
            after=self.offset,
            keyframe=keyframe,
        )

    def submit(
        self, kind: InputKind, payload: bytes, *, waits: bool = True
    ) -> messages.Submit:
        """Make an input, which is open until it is answered.

        If nobody `waits` for the answer, it may come a little later.
        """
        made = self._next_input(kind, payload, waits=waits)
        self.signing.note(made)
        self._open[self._next] = made
        self._next += 1
        return made

    def foresee(self) -> tuple[bytes, bytes]:
        """Return the frame that the next key is sent in, cut where the key belongs.

        The sender makes the input afterwards, by `submit`, before anything else
        is taken: it is the same then.
        """
        return around_key(self._next_input(InputKind.KEYS, b"", waits=False))

    def _next_input(
        self, kind: InputKind, payload: bytes, *, waits: bool
    ) -> messages.Submit:
        assert self.incarnation is not None, "attach first"  # noqa: S101
        return messages.Submit(
            client=self.client,
            sequence=self._next,
            kind=kind,
            incarnation=self.incarnation,
            epoch=self.epoch,
            payload=payload,
            seen=self.offset,
            waits=waits,
        )

    def afresh(self) -> "Attachment":
        """Return a view that has seen as much, of a client that has sent nothing.

        For an input that was refused before it was counted.
        """
        secret = hashlib.sha256(b"afresh" + self._secret).digest()
        other = Attachment(self.session, self.client, secret, self.mode)
        other.held, other.offset = self.held, self.offset
        other.join(self)
        return other

    def join(self, other: "Attachment") -> None:
        """Note that we share the link on which another of our clients has attached."""
        if self.offset is None:
            self.offset = other.offset
        self.incarnation = other.incarnation
        self.epoch, self.holder = other.epoch, other.holder
        self.us, self.others = other.us, other.others

    def take(self, message: Message) -> News:
        """Take a message, and tell what it means to us."""
        return News(message, self.heard(message), self.answered(message))

    def is_own_doing(self, epoch: Epoch) -> bool:
        """Tell whether the turn has moved since then, and nobody else had it.

        Our command drops the turn that it took; and an input may have taken the
        free turn when its holder died before it wrote the input.
        """
        is_ours = self.holder in ("", self.us)
        return is_ours and self._foreign <= epoch < self.epoch

    def heard(self, message: Message) -> bytes:
        """Take a message; return what it adds to the screen, often nothing."""
        match message:
            case messages.Output(offset, data):
                return self._printed(offset, data)
            case messages.Keyframe():
                return self._painted(message)
            case messages.Gap(_, end):
                self.offset = end
            case messages.Attached():
                self._attached(message)
            case messages.TurnPassed():
                self._turn_is(message)
            case messages.Pending() | messages.Settled():
                self._heard_of_gate(message)
            case Signed() | messages.Refuse():
                self._heard_of_statement(message)
            case _:
                pass
        return b""

    def _heard_of_statement(self, message: Signed | messages.Refuse) -> None:
        if isinstance(message, Signed):
            self.signing.confirmed(message)
        elif message.refused == FrameKind.SIGN:
            self.signing.refused(message.code)

    def _heard_of_gate(self, message: messages.Pending | messages.Settled) -> None:
        if isinstance(message, messages.Settled):
            if self.pending is not None and message.ticket == self.pending.ticket:
                self.pending = None
        elif message.actor == self.us:
            self._holds(message)

    def _holds(self, message: messages.Pending) -> None:
        is_new = self.pending is None or self.pending.ticket != message.ticket
        self.pending = message
        if is_new:
            self.held(message)

    def withdraw(self, waited: float) -> list[Message]:
        """Withdraw our input that has waited so long; return the messages.

        Its refusal is then one for want of an answer. An approval that was faster
        counts.
        """
        if (waits := self.pending) is None:
            return []
        self._waited = waited
        return [messages.Deny(waits.ticket, waits.digest)]

    def answered(self, message: Message) -> tuple[int, HoldfastError | None] | None:
        """Return which input `message` settles, and the error if it was not applied.

        None: it settles none.
        """
        match message:
            case messages.Acknowledge(client, sequence) if client == self.client:
                self.signing.booked(sequence)
                return self._settled(sequence, None)
            case messages.Report(client, sequence) if client == self.client:
                self.signing.booked(sequence)
                if sequence not in self._open:
                    return None
                return self._settled(sequence, self._ending(message))
            case messages.Refuse(client=client, sequence=sequence) if (
                client == self.client
            ):
                return self._refused(message)
            case _:
                return None

    def _printed(self, offset: int, data: bytes) -> bytes:
        end = offset + len(data)
        seen = offset if self.offset is None else self.offset
        self.offset = max(seen, end)
        return data[max(0, seen - offset) :]

    def _painted(self, part: messages.Keyframe) -> bytes:
        before = b"" if self._is_painting else cleared(part.size.rows)
        self._is_painting = part.more
        if not part.more:
            self.offset = part.offset  # Half a picture is none.
        return before + part.data

    def _attached(self, message: messages.Attached) -> None:
        if self.incarnation not in (None, message.incarnation):
            self.offset = None  # Offsets of another life mean nothing in this one.
        self._is_painting = False
        self.incarnation = message.incarnation
        self.us = next(
            (who.actor for who in message.operators if who.client == self.client), None
        )
        self._turn_is(message)
        self.others = tuple(
            who for who in message.operators if who.client != self.client
        )

    def _turn_is(self, message: messages.Attached | messages.TurnPassed) -> None:
        is_other = message.holder not in ("", self.us)
        # After a cut one step is known by where it has led, and more are not.
        if is_other or message.epoch > self.epoch + 1:
            self._foreign = message.epoch
        self.holder, self.epoch = message.holder, message.epoch

    def _settled(
        self, sequence: int, error: HoldfastError | None
    ) -> tuple[int, HoldfastError | None] | None:
        if self._open.pop(sequence, None) is None:
            return None
        self.is_stalled = self.is_stalled and bool(self._open)
        return sequence, error

    def _refused(
        self, refuse: messages.Refuse
    ) -> tuple[int, HoldfastError | None] | None:
        error = self._meant(error_from(refuse))
        if refuse.code not in UNCOUNTED:
            return self._settled(refuse.sequence, error)
        expected = error.facts.get("expected", refuse.sequence)
        if isinstance(expected, int) and expected not in self._open:
            # What the holder waits for was given up: count on from there.
            self._next = expected
            self._open.clear()
            self.signing.counted_from(expected)
            self.is_stalled = False
            return refuse.sequence, error
        self.is_stalled = True
        return None

    def _meant(self, error: HoldfastError) -> HoldfastError:
        """Return what a refusal means to the sender: no to oneself is silence."""
        is_ours = error.facts.get("approver") == self.us
        if self._waited is not None and is_ours and isinstance(error, DeniedByOperator):
            return ApprovalTimeout(round(self._waited))
        return error

    def _ending(self, report: messages.Report) -> HoldfastError:
        match report.outcome:
            case messages.Ending.CUT:
                size = len(self._open[report.sequence].payload)
                return InputCut(report.written, size)
            case messages.Ending.DROPPED:
                return TurnMoved(self.holder or "", self.epoch)
            case messages.Ending.UNKNOWN:
                return OutcomeUnknown(report.client, report.sequence)
