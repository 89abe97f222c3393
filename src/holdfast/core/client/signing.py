"""Which of its inputs a client has signed, and when it signs next.

Theory of operation
-------------------
Every input goes into a chain (core.input.input_chain) before it is sent. What the
holder says is in the book, applied or not, can be signed: a command at once, keys once
a second at most. One statement is on its way at a time; until the holder has it in the
book, it is sent again on each new link.

Nothing waits for a signature, and none is worth an error: an operator whose key is
not here signs nothing, and neither does a client whose holder does not keep what it
signs. The book then lists its inputs as unsigned.

Invariants, checked by tests/core/client/test_signing.py:

I1  Only what the holder has in the book is signed, and all that was sent before it.
I2  A statement is sent unchanged until it is confirmed or refused.
I3  After something that cannot be made good, nothing more is signed.
"""

from typing import TYPE_CHECKING, NamedTuple

from holdfast.core.input.input_chain import InputChain
from holdfast.model.errors import AskedTooOften
from holdfast.model.ids import ActorId, ClientId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import Submit
from holdfast.wire.signatures import Sign, Signed

if TYPE_CHECKING:
    from holdfast.core.input.commitments import Signs

CADENCE = 1.0
"""Seconds between statements about keys, and until one that came too often is sent
again: what a client that is killed leaves unsigned."""

MAX_UNSIGNED = 4096
"""Inputs that wait to be signed; a holder that keeps no statements is sent none."""

MAX_NOTED = 64
"""Inputs that are sent before they are put into the chain, and bytes of each."""

MAX_LINKS = 4
"""Links on which one statement is sent: a holder that hangs up on it each time does
not know what it is."""

SECRET = 32
"""Bytes that a client chooses by chance, of which its salts are made."""

_LEISURELY = frozenset({InputKind.KEYS, InputKind.RESIZE})


class Pen(NamedTuple):
    """What an operator signs with, and who it is at that host."""

    key: "Signs"
    actor: ActorId
    rotations: bytes = b""


class Signing:
    """One client's chain, and how far the book has it."""

    def __init__(self, session: SessionId, client: ClientId, secret: bytes) -> None:
        self._chain = InputChain(session, client, secret)
        self._noted: list[Submit] = []
        self._booked = 0
        self._is_hasty = False
        self._due_at: float | None = None
        self._sent: Sign | None = None
        self._is_on_its_way = False
        self._links = 0
        self._is_over = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to sign, or to be confirmed."""
        has_more = self._booked > self._chain.signed
        return self._is_over or (self._sent is None and not has_more)

    @property
    def is_awaited(self) -> bool:
        """Whether a statement is on its way, and the answer to it."""
        return self._is_on_its_way

    @property
    def is_put_off(self) -> bool:
        """Whether a statement is to be sent again later: it came too often."""
        return self._sent is not None and not self._is_on_its_way

    # ── what becomes of inputs ────────────────────────────────────────────

    def note(self, made: Submit) -> None:
        """Take an input, before it is sent."""
        # A key is to be on its way: it goes into the chain when that is looked at.
        if not self._is_over:
            self._noted.append(made)
            self._is_hasty = self._is_hasty or made.kind not in _LEISURELY
            if len(self._noted) >= MAX_NOTED or len(made.payload) > MAX_NOTED:
                self._catch_up()

    def _catch_up(self) -> None:
        """Put what was noted into the chain."""
        noted, self._noted = self._noted, []
        for made in noted:
            if self._chain.last - self._chain.signed >= MAX_UNSIGNED:
                self._give_up()
                return
            self._chain.note(made)

    def booked(self, sequence: int) -> None:
        """Note that the book has an input."""
        self._catch_up()
        self._booked = max(self._booked, min(sequence, self._chain.last))

    def counted_from(self, sequence: int) -> None:
        """Note that the holder expects `sequence` next, whatever was sent."""
        self._catch_up()
        if self._is_over:
            return
        if sequence <= self._chain.signed:
            # It has forgotten us, and our numbers come a second time.
            self._give_up()
            return
        self._chain.forget_from(sequence)
        self._booked = min(self._booked, sequence - 1)

    # ── statements ────────────────────────────────────────────────────────

    def wait(self, now: float) -> float | None:
        """Return in how many seconds to sign; None if there is nothing to sign."""
        if self.is_done or self._is_on_its_way:
            return None
        if self._due_at is None:
            is_hasty = self._is_hasty and self._sent is None
            self._due_at = now if is_hasty else now + CADENCE
        return max(0.0, self._due_at - now)

    def sign(self, pen: Pen | None) -> Sign | None:
        """Return a statement to send; None if there is nothing to sign, or no key."""
        if pen is None:
            self._give_up()
            return None
        if self.is_done or self._is_on_its_way:
            return None
        if self._sent is None:
            self._is_hasty, self._links = False, 1
            made = self._chain.sign(pen.key, pen.actor, self._booked, pen.rotations)
            self._sent = None if made is None else made.to_message()
        self._due_at, self._is_on_its_way = None, self._sent is not None
        return self._sent

    def again(self) -> Sign | None:
        """Return what to send again on a new link, if anything."""
        if self._sent is None:
            return None
        self._links += 1
        if self._links > MAX_LINKS:
            self._give_up()
        self._is_on_its_way = self._sent is not None
        return self._sent

    def confirmed(self, said: Signed) -> None:
        """Note that the book has a statement."""
        sent = self._sent
        if sent is not None and said.client == sent.client and said.last >= sent.last:
            self._sent, self._is_on_its_way = None, False

    def refused(self, code: str) -> None:
        """Note that a statement is not kept: for now, or for good."""
        self._is_on_its_way = False
        if code != AskedTooOften.code:
            self._give_up()

    def _give_up(self) -> None:
        self._is_over, self._is_on_its_way, self._sent = True, False, None
