"""Who may do what in this session, as of now.

Theory of operation
-------------------
Every operator has an envelope here, or none. One that was revoked is remembered
with an empty envelope: an operator that comes back with the same key is known, and not
given what a newcomer of its kind is given.

Passing on is attenuation: an operator gives what it has, or less, for as long as
it has it, or shorter (model.envelopes).

Invariants, checked by tests/core/input/test_rights.py:

I1  Nobody has a right that no grant in force gives.
I2  What is revoked is gone at once, and stays gone until it is granted anew.
I3  Nobody passes on more than they have at that moment.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from holdfast.core.input.turn import Refuse
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.moments import Moment

NOTHING = Envelope(frozenset())
"""What is left to an operator that was revoked."""


class Rights:
    """The envelopes of one session."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._envelopes: dict[ActorId, Envelope] = {}

    def resume(self, envelopes: Mapping[ActorId, Envelope]) -> None:
        """Take up what a predecessor left behind."""
        self._envelopes = dict(envelopes)

    def envelope_of(self, actor: ActorId) -> Envelope | None:
        """Return what `actor` has here; None if it was never spoken of."""
        return self._envelopes.get(actor)

    def may(self, actor: ActorId, right: Right, at: Moment) -> bool:
        """Tell whether `actor` may use `right` now."""
        envelope = self._envelopes.get(actor)
        return envelope is not None and envelope.covers(right, self._session, at.wall)

    def refusals(
        self, actor: ActorId, right: Right, at: Moment, *, told: ActorId | None = None
    ) -> list[Refuse]:
        """Return what is to be told, to `told` or to `actor`, if it lacks a right."""
        if self.may(actor, right, at):
            return []
        return [Refuse(told or actor, NotAllowed(actor, right.value))]

    def rights_of(self, actor: ActorId, at: Moment) -> frozenset[Right]:
        """Return everything `actor` may use now."""
        return frozenset(right for right in Right if self.may(actor, right, at))

    def give(self, actor: ActorId, envelope: Envelope) -> None:
        """Give `actor` an envelope, in place of what it had."""
        self._envelopes[actor] = envelope

    @contextmanager
    def supposing(self, actor: ActorId, envelope: Envelope) -> Iterator[None]:
        """Give a stranger an envelope, only to see what would happen."""
        self._envelopes[actor] = envelope
        try:
            yield
        finally:
            del self._envelopes[actor]

    def take_all(self, actor: ActorId) -> None:
        """Revoke all rights of `actor`."""
        self._envelopes[actor] = NOTHING

    def part_of(
        self,
        giver: ActorId,
        rights: frozenset[Right],
        expires_wall: float | None,
        at: Moment,
    ) -> Envelope:
        """Return what `giver` is about to pass on, for this session alone.

        What the giver has only for a while is passed on for no longer.

        Raises:
            Forbidden: It is more than the giver has, or it may not grant.

        """
        own = self._envelopes.get(giver)
        if own is None or not self.may(giver, Right.GRANT, at):
            raise NotAllowed(giver, Right.GRANT.value)
        until = own.expires_wall if expires_wall is None else expires_wall
        return own.passed_on(rights, self._session, until)
