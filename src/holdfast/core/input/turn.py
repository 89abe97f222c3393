"""Who may write now.

Theory of operation
-------------------
At most one operator has the turn. It is taken when free, asked for when held,
given, dropped, lost to a limit or an absence, and by a human seized.

    FREE ──took, asked for──▶ HELD ──dropped, expired, abandoned, revoked──▶ FREE
                              │  ▲                          (or the next who waits)
                              └──┘ gave, answered, seized

An operator who asks for a held turn is queued. The holder is told and may answer;
without an answer the configured default speaks. When the turn comes free, one of
those in line has it, so a free turn never has a line. Which one is the choice of
a *rule for the next*, a function of who waits. It is asked nothing else, and what
it answers counts only if it names a waiter: otherwise the first one gets the turn.

Rules may change while the session runs. A turn ends by those it began with.

Every change of hands raises the epoch, and an input carries the epoch it was
made under. So late input is refused without a search for it.

Seizing is not a request. It asks no rule, no line and no holder.

Another rule for the next is a function here and a word in NEXT_RULES. It runs in
the process that holds the session, so it must be ours: foreign code would have to
be asked elsewhere and in advance, and no act asks for it.

Invariants, each checked by tests/core/input/test_turn_properties.py:

I1  At most one operator has the turn.
I2  The epoch never goes down, and goes up exactly when the turn changes hands.
I3  After a seize the seizer has the turn, whatever went before.
I4  A free turn has nobody waiting for it.
I5  Nobody waits longer than they said they would.
I6  No rule for the next, whatever it answers, keeps the turn from who waits or
    gives it to who does not.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.core.input.budget import KindOf, stranger
from holdfast.model import errors
from holdfast.model.actors import ActorKind
from holdfast.model.ids import NO_EPOCH, ActorId, Epoch, next_epoch

MAX_WAITING = 32
"""Operators in line for one turn; more is a flood, not a queue."""


class AskDefault(enum.StrEnum):
    """What a holder's silence means to the asker."""

    GRANT = "grant"
    REFUSE = "refuse"


class PassReason(enum.StrEnum):
    """Why the turn changed hands."""

    TAKEN = "taken"
    GIVEN = "given"
    ANSWERED = "answered"
    DEFAULTED = "defaulted"
    DROPPED = "dropped"
    SEIZED = "seized"
    EXPIRED = "expired"
    ABANDONED = "abandoned"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Waiting:
    """An operator who waits for the turn, and for how many seconds already."""

    actor: ActorId
    kind: ActorKind
    waited: float


NextRule = Callable[[Sequence[Waiting]], ActorId]
"""Given who waits, first in line first and at least one, names who is next."""


def first(line: Sequence[Waiting]) -> ActorId:
    """Choose the operator who has waited longest."""
    return line[0].actor


def human_first(line: Sequence[Waiting]) -> ActorId:
    """Choose the first human in line, and the first of all if there is none."""
    humans = [one for one in line if one.kind is ActorKind.HUMAN]
    return first(humans or line)


NEXT_RULES: dict[str, NextRule] = {"first": first, "human-first": human_first}
"""The rules for the next by the words of the policy file."""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """How long a turn lasts and what silence means. Seizing reads none of it."""

    limit: float | None = None
    grace: float = 30.0
    ask_default: AskDefault = AskDefault.REFUSE
    next_rule: NextRule = first
    kind_limits: Mapping[ActorKind, float] = field(default_factory=dict)
    """Limits for kinds of holder; the shorter of this and `limit` counts."""

    def limit_for(self, kind: ActorKind) -> float | None:
        """Return how many seconds a turn of such a holder lasts; None: no limit."""
        limits = (self.limit, self.kind_limits.get(kind))
        return min((one for one in limits if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class Took:
    """An operator took the turn, expecting it to be free."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class AskedFor:
    """An operator asked for the turn and will wait `patience` seconds."""

    actor: ActorId
    patience: float


@dataclass(frozen=True, slots=True)
class Answered:
    """The holder answered a waiting operator."""

    actor: ActorId
    asker: ActorId
    granted: bool


@dataclass(frozen=True, slots=True)
class Gave:
    """The holder gave the turn to an operator by name."""

    actor: ActorId
    to: ActorId


@dataclass(frozen=True, slots=True)
class Dropped:
    """The holder let the turn go."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class Seized:
    """An operator with the right to seize took the turn by force."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class Left:
    """An operator's last client went away."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class Returned:
    """An operator who had left is back."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class Revoked:
    """An operator lost the right to write."""

    actor: ActorId


@dataclass(frozen=True, slots=True)
class PassTurn:
    """Record and announce that the turn changed hands; None means nobody."""

    giver: ActorId | None
    taker: ActorId | None
    epoch: Epoch
    reason: PassReason


@dataclass(frozen=True, slots=True)
class AskHolder:
    """Tell the holder that an operator waits, until `answer_by`."""

    holder: ActorId
    asker: ActorId
    answer_by: float


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell an operator that its request was refused, and why."""

    actor: ActorId
    error: errors.HoldfastError


Event = Took | AskedFor | Answered | Gave | Dropped | Seized | Left | Returned | Revoked
Effect = PassTurn | AskHolder | Refuse


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in line: until when it is kept, and since when."""

    by: float
    since: float


class Turn:
    """The turn of one session."""

    def __init__(
        self,
        rules: TurnRules | None = None,
        *,
        epoch: Epoch = NO_EPOCH,
        kind_of: KindOf = stranger,
    ) -> None:
        self._rules = self._coming_rules = rules or TurnRules()
        self._kind_of = kind_of
        self.holder: ActorId | None = None
        """Who has the turn."""

        self.epoch = epoch
        """Under which epoch."""

        self._was_free = True
        self._passed_at: float | None = None
        self._limit_at: float | None = None
        self._grace_at: float | None = None
        self._waiting: dict[ActorId, _Place] = {}

    @property
    def waiting(self) -> tuple[ActorId, ...]:
        """Who waits for it, first in line first."""
        return tuple(self._waiting)

    def adopt(self, rules: TurnRules) -> None:
        """Apply other rules from the next turn on; a free turn has not begun."""
        self._coming_rules = rules
        if self.holder is None:
            self._rules = rules

    def resume(self, holder: ActorId | None, epoch: Epoch, now: float) -> None:
        """Take up the turn as a process that died left it.

        Its holder is not attached yet, so the grace begins.
        """
        self.holder, self.epoch, self._was_free = holder, epoch, False
        if holder is not None:
            self._start_clock(holder, now)
            self._grace_at = now + self._rules.grace

    def demand(self, actor: ActorId, epoch: Epoch) -> None:
        """Do nothing if `actor` may write what it made under `epoch`.

        An operator who took a *free* turn may also write what it made before, under
        the epoch in which the turn was free: nobody else wrote in between, and
        so a person can begin to type without waiting for an answer.

        Raises:
            Forbidden: It may not.

        """
        holder = self.holder or ""
        if actor != self.holder:
            raise errors.NotYourTurn(holder, self.epoch)
        if epoch != self.epoch and not (self._was_free and epoch == self.epoch - 1):
            raise errors.StaleEpoch(epoch, holder, self.epoch)

    def is_free_under(self, epoch: Epoch) -> bool:
        """Tell whether the turn is free, and has been since `epoch` began."""
        return self.holder is None and epoch == self.epoch

    def handle(  # noqa: C901, PLR0911  # one case for each event
        self, event: Event, now: float
    ) -> list[Effect]:
        """Take what an operator did."""
        match event:
            case Seized(actor):
                return self._pass_to(actor, PassReason.SEIZED, now)
            case Took(actor):
                return self._take(actor, now)
            case AskedFor(actor, patience):
                return self._ask(actor, patience, now)
            case Answered():
                return self._answer(event, now)
            case Gave(actor, to):
                if actor == to == self.holder:
                    return []
                return self._held_by(actor) or self._pass_to(to, PassReason.GIVEN, now)
            case Dropped(actor):
                return self._held_by(actor) or self._release(PassReason.DROPPED, now)
            case Left(actor):
                return self._leave(actor, now)
            case Returned(actor):
                if actor == self.holder:
                    self._grace_at = None
                return []
            case Revoked(actor):
                return self._revoke(actor, now)

    def tick(self, now: float) -> list[Effect]:
        """Do what the clock demands. Call it at or after `next_deadline()`."""
        effects: list[Effect] = []
        if self._grace_at is not None and now >= self._grace_at:
            effects += self._release(PassReason.ABANDONED, now)
        if self._limit_at is not None and now >= self._limit_at:
            effects += self._release(PassReason.EXPIRED, now)
        overdue = [who for who, place in self._waiting.items() if now >= place.by]
        for asker in overdue:
            effects += self._default(asker, now)
        return effects

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        first = self._grace_at
        if self._limit_at is not None and (first is None or self._limit_at < first):
            first = self._limit_at
        for place in self._waiting.values():
            if first is None or place.by < first:
                first = place.by
        return first

    def _take(self, actor: ActorId, now: float) -> list[Effect]:
        if self.holder == actor:
            return []
        return self._refused_while_held(actor) or self._pass_to(
            actor, PassReason.TAKEN, now
        )

    def _ask(self, actor: ActorId, patience: float, now: float) -> list[Effect]:
        if self.holder is None:
            return self._pass_to(actor, PassReason.TAKEN, now)
        if actor == self.holder or actor in self._waiting:
            return []
        if len(self._waiting) >= MAX_WAITING:
            return [Refuse(actor, errors.TooManyPending(MAX_WAITING))]
        self._waiting[actor] = _Place(by=now + patience, since=now)
        return [AskHolder(self.holder, actor, now + patience)]

    def _answer(self, event: Answered, now: float) -> list[Effect]:
        if refused := self._held_by(event.actor):
            return refused
        if event.asker not in self._waiting:
            return [Refuse(event.actor, errors.NotAsked(event.asker))]
        if event.granted:
            return self._pass_to(event.asker, PassReason.ANSWERED, now)
        return self._turn_away(event.asker, "the holder said no")

    def _default(self, asker: ActorId, now: float) -> list[Effect]:
        if self._rules.ask_default is AskDefault.REFUSE:
            return self._turn_away(asker, "no answer came")
        if self._passed_at == now:
            # Two patiences that end together must not take the turn from one
            # another in the same instant.
            return self._turn_away(asker, "another operator was first")
        return self._pass_to(asker, PassReason.DEFAULTED, now)

    def _turn_away(self, asker: ActorId, why: str) -> list[Effect]:
        del self._waiting[asker]
        return [Refuse(asker, errors.AskRefused(self.holder or "", why))]

    def _leave(self, actor: ActorId, now: float) -> list[Effect]:
        self._waiting.pop(actor, None)
        if actor == self.holder:
            self._grace_at = now + self._rules.grace
        return []

    def _revoke(self, actor: ActorId, now: float) -> list[Effect]:
        self._waiting.pop(actor, None)
        if actor != self.holder:
            return []
        return self._release(PassReason.REVOKED, now)

    def _release(self, reason: PassReason, now: float) -> list[Effect]:
        return self._pass_to(self._next(now), reason, now)

    def _next(self, now: float) -> ActorId | None:
        line = [
            Waiting(who, self._kind_of(who), now - place.since)
            for who, place in self._waiting.items()
        ]
        if not line:
            return None
        chosen = self._rules.next_rule(line)
        return chosen if chosen in self._waiting else line[0].actor

    def _pass_to(
        self, taker: ActorId | None, reason: PassReason, now: float
    ) -> list[Effect]:
        giver, self.holder = self.holder, taker
        self.epoch = next_epoch(self.epoch)
        self._was_free, self._passed_at = giver is None, now
        self._limit_at = self._grace_at = None
        self._rules = self._coming_rules
        effects: list[Effect] = [PassTurn(giver, taker, self.epoch, reason)]
        if taker is not None:
            self._waiting.pop(taker, None)
            self._start_clock(taker, now)
            # The waiters now wait for another holder, who must be told.
            effects += [
                AskHolder(taker, who, place.by) for who, place in self._waiting.items()
            ]
        return effects

    def _start_clock(self, holder: ActorId, now: float) -> None:
        limit = self._rules.limit_for(self._kind_of(holder))
        self._limit_at = None if limit is None else now + limit

    def _held_by(self, actor: ActorId) -> list[Effect]:
        if actor == self.holder:
            return []
        return [Refuse(actor, errors.NotYourTurn(self.holder or "", self.epoch))]

    def _refused_while_held(self, actor: ActorId) -> list[Effect]:
        if self.holder is None:
            return []
        return [Refuse(actor, errors.NotYourTurn(self.holder, self.epoch))]
