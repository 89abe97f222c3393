"""Envelopes: what an operator may do.

An envelope is a set of rights, over one session or a whole host, until an
expiry. It can be passed on only in part (attenuation):

I1  What an envelope covers, every envelope it was attenuated from covers.
I2  An envelope covers nothing at or after its expiry.
I3  Only an operator with the right `grant` passes rights on.

Expiry is wall-clock time, because a grant outlives the process that made it.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotAllowed, WiderThanGiven
from holdfast.model.ids import ActorId, SessionId


class Right(enum.StrEnum):
    """One thing an operator may do."""

    OBSERVE = "observe"
    INPUT = "input"
    COMMAND = "command"
    SIGNAL = "signal"
    RESIZE = "resize"
    TAKE = "take"
    SEIZE = "seize"
    GRANT = "grant"
    APPROVE = "approve"
    END = "end"
    CREATE = "create"
    CHECKPOINT = "checkpoint"
    FORK = "fork"
    MOVE = "move"


def rights_from(words: Iterable[str]) -> frozenset[Right]:
    """Return the rights that a file or a logbook names.

    Raises:
        ValueError: A word is none.

    """
    return frozenset(Right(word) for word in words)


_EVERY_KIND = frozenset({Right.OBSERVE})
_WRITER = _EVERY_KIND | {Right.INPUT, Right.RESIZE, Right.TAKE}

_DEFAULTS = {
    ActorKind.HUMAN: frozenset(Right),
    ActorKind.AGENT: _WRITER | {Right.COMMAND, Right.SIGNAL},
    ActorKind.SERVICE: _WRITER | {Right.COMMAND},
    ActorKind.DEVICE: _WRITER,
}
"""What each kind may do that nobody has spoken of. Only people take by force,
pass on, approve, start sessions, or end what another operator started."""

_BEGINNER = frozenset({Right.END, Right.CREATE, Right.CHECKPOINT, Right.FORK})
"""The rights of a session's creator: have its command started, end it, put it to
disk, and make branches of it."""


def default_rights(kind: ActorKind, *, began_it: bool) -> frozenset[Right]:
    """Return what an operator of `kind` may do by default.

    The creator of a session may end it.
    """
    return _DEFAULTS[kind] | (_BEGINNER if began_it else frozenset())


def invited_rights(kind: ActorKind) -> frozenset[Right]:
    """Return what an invitation promises an operator of `kind` if it says nothing.

    The right to start sessions has to be named, for every kind.
    """
    return _DEFAULTS[kind] - {Right.CREATE}


WHOLE_HOST = None
"""The scope of an envelope that speaks of every session of the host."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Rights over one session, or over all when `session` is WHOLE_HOST."""

    rights: frozenset[Right]
    session: SessionId | None = WHOLE_HOST
    expires_wall: float | None = None

    def covers(self, right: Right, session: SessionId, now_wall: float) -> bool:
        """Tell whether `right` may be used on `session` now."""
        return (
            right in self.rights
            and self.session in (WHOLE_HOST, session)
            and (self.expires_wall is None or now_wall < self.expires_wall)
        )

    def demand(
        self, right: Right, session: SessionId, now_wall: float, actor: ActorId
    ) -> None:
        """Do nothing if `right` is covered.

        Raises:
            Forbidden: It is not.

        """
        if not self.covers(right, session, now_wall):
            raise NotAllowed(actor, right.value)

    def passed_on(
        self,
        rights: frozenset[Right],
        session: SessionId | None,
        expires_wall: float | None,
    ) -> "Envelope":
        """Return the part of this envelope that is to be granted to another operator.

        Raises:
            Forbidden: It would be more than this envelope holds.

        """
        if Right.GRANT not in self.rights:
            raise WiderThanGiven("anything without the right to grant")
        if extra := rights - self.rights:
            raise WiderThanGiven(", ".join(sorted(extra)))
        if self.session not in (WHOLE_HOST, session):
            raise WiderThanGiven("more than one session")
        # Asked this way round, an expiry that is not a number is refused as well;
        # it would compare with nothing, and so outlive everything.
        if self.expires_wall is not None and not (
            expires_wall is not None and expires_wall <= self.expires_wall
        ):
            raise WiderThanGiven("a later expiry")
        return Envelope(rights, session, expires_wall)


def first_envelope(
    kind: ActorKind,
    session: SessionId,
    promised: Envelope | None = None,
    *,
    began_it: bool,
) -> Envelope:
    """Return what a session gives an operator that it meets for the first time.

    `promised` is what an invitation said; without one, its kind decides. An
    operator that was promised only another session has no rights here.
    """
    if promised is None:
        return Envelope(default_rights(kind, began_it=began_it), session)
    if promised.session not in (WHOLE_HOST, session):
        return Envelope(frozenset(), session)
    own = _BEGINNER if began_it else frozenset()
    return Envelope(promised.rights | own, session, promised.expires_wall)


class Standing(enum.Enum):
    """What an operator's envelope says about starting sessions on this host."""

    ENTITLED = enum.auto()
    """It has the right: the policy decides like about anything else."""

    UNSPOKEN = enum.auto()
    """Its kind lacks the right, and nobody has spoken of it: a rule may."""

    BARRED = enum.auto()
    """It was promised other rights than this one: no rule makes up for that."""


def standing_to_create(
    kind: ActorKind, promised: Envelope | None, now_wall: float
) -> Standing:
    """Return whether an operator may ask for a session at all.

    A right over one session is none over the host.
    """
    if promised is None:
        has = Right.CREATE in _DEFAULTS[kind]
        return Standing.ENTITLED if has else Standing.UNSPOKEN
    expires = promised.expires_wall
    is_over = expires is not None and now_wall >= expires
    is_wide = promised.session is WHOLE_HOST and Right.CREATE in promised.rights
    return Standing.ENTITLED if is_wide and not is_over else Standing.BARRED
