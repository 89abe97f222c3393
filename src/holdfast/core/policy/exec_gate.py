"""An exec, from its question to its answer.

Theory of operation
-------------------
A process of the session stands in execve and waits: that is a *notice*. Most are
settled at once, where the rules are read, and never come here. What comes here
waits for an answer: from plug-ins or a webhook, or from an operator with `approve`.
It goes through a gate of its own kind (core/input/gate.py), with a ticket that belongs
to no turn: a turn that passes on, a seize or a freeze leaves it waiting, and the
exec neither happens nor fails.

    Asked ──▶ CONSULTED ──allow, deny──────────────▶ answered
                  └─ask─▶ PENDING ──yes, no, late──▶ answered

A process that gets a signal while it waits, as it does when the session is frozen
and thawed, leaves its notice and comes back with another. So an exec is known by
its process and by what it wants: if the same comes again it goes on waiting, and
finds the answer that an operator gave meanwhile. A process that comes back with
another wish has given up the first.

Refusals are put on record, each for itself; of a flood, the first MAX_NAMED in a
WINDOW, and the rest as a number.

Invariants, checked by tests/core/policy/test_exec_gate.py:

I1  A notice is answered at most once, and only with what the gate said about
    exactly this process and these words.
I2  Nothing is let through but by an allow, or by an ask and an approval.
I3  Nobody approves their own exec.
I4  Every exec that is held is answered in bounded time, or its process is gone.
I5  No more than MAX_NAMED refusals in a WINDOW have an entry of their own, and the
    counts of all entries add up to the refusals once `flush` was called.
"""

from dataclasses import dataclass

from holdfast.core.input import gate
from holdfast.model import errors
from holdfast.model.ids import ActorId

WINDOW = 1.0
"""Seconds in which refusals are counted: short beside a person's patience."""

MAX_NAMED = 20
"""Refusals with an entry of their own in a WINDOW: more than a person reads, and
little beside what a program can try."""

Mark = tuple[int, int]
"""A process, or rather the thread of it that waits: its number, and its start."""

_GIVEN_UP = errors.PolicyUnavailable("was asked for something else meanwhile")


@dataclass(frozen=True, slots=True)
class Wish:
    """What an operator's process wants to execute."""

    actor: ActorId
    mark: Mark
    digest: bytes
    """Of the program, its words and its folder: what an approval is bound to."""

    program: str
    text: str
    """The words as they can be shown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A process waits, and the rules alone do not decide."""

    ticket: int
    notice: int
    wish: Wish


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A notice is gone; its process may come back with another."""

    notice: int


@dataclass(frozen=True, slots=True)
class Gone:
    """A process is gone."""

    mark: Mark


@dataclass(frozen=True, slots=True)
class Answer:
    """Tell the kernel: let it happen, or have it fail if there is an error."""

    notice: int
    error: errors.HoldfastError | None


@dataclass(frozen=True, slots=True)
class Consult:
    """Ask the policy about a wish."""

    ticket: int
    wish: Wish


@dataclass(frozen=True, slots=True)
class Show:
    """Show operators with `approve` what waits, and by which rule."""

    ticket: int
    wish: Wish
    rule: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Tell operators that it is no longer pending; `by` decided it, if anyone did."""

    ticket: int
    wish: Wish
    is_let: bool
    by: ActorId | None


@dataclass(frozen=True, slots=True)
class Record:
    """Put on record what became of a wish, or of `count` of them."""

    wish: Wish
    error: errors.HoldfastError | None
    by: ActorId | None = None
    count: int = 1


Event = (
    Asked
    | Interrupted
    | Gone
    | gate.Judged
    | gate.PolicyFailed
    | gate.Approved
    | gate.Denied
)
Effect = Answer | Consult | Show | Settle | Record | gate.Refuse


@dataclass(slots=True)
class _Held:
    ticket: int
    wish: Wish
    notice: int | None
    is_shown: bool = False
    answer: tuple[errors.HoldfastError | None] | None = None
    """What it finds when it comes back."""


@dataclass(slots=True)
class _Refusals:
    """The account of what is put on record."""

    until: float = 0.0
    named: int = 0
    more: int = 0
    last: Record | None = None


class ExecGate:
    """The pending execs of one session."""

    def __init__(self, rules: gate.GateRules | None = None) -> None:
        self._gate = gate.Gate(rules)
        self._held: dict[int, _Held] = {}
        self._refusals = _Refusals()

    @property
    def notices(self) -> tuple[int, ...]:
        """The notices that wait for an answer."""
        return tuple(
            held.notice for held in self._held.values() if held.notice is not None
        )

    @property
    def is_busy(self) -> bool:
        """Whether an answer is pending."""
        return bool(self._held)

    @property
    def marks(self) -> frozenset[Mark]:
        """The processes that are being waited for."""
        return frozenset(held.wish.mark for held in self._held.values())

    def is_consulting(self, ticket: int) -> bool:
        """Tell whether the policy's answer to a ticket still counts."""
        return self._gate.is_consulting(ticket)

    def knows(self, ticket: int) -> bool:
        """Tell whether a ticket belongs to this gate."""
        return ticket in self._held

    def actor_of(self, ticket: int) -> ActorId:
        """Return in whose name something waits."""
        return self._held[ticket].wish.actor

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what a process, a policy or an operator did."""
        match event:
            case Asked():
                return self._ask(event, now)
            case Interrupted(notice):
                return self._interrupt(notice)
            case Gone(mark):
                return self._leave(mark)
            case gate.Approved(ticket, approver, digest):
                # An exec has no epoch; its approver needs no turn.
                approved = gate.Approved(ticket, approver, digest, None)
                return self._carry(self._gate.handle(approved, now), now)
            case gate.Judged() | gate.PolicyFailed() | gate.Denied():
                return self._carry(self._gate.handle(event, now), now)

    def refused(
        self, wish: Wish, error: errors.HoldfastError, now: float
    ) -> list[Record]:
        """Note that the rules refused something at once; return what to record."""
        return self._count(Record(wish, error), now)

    def tick(self, now: float) -> list[Effect]:
        """Do what the clock demands. Call it at or after `next_deadline()`."""
        effects = self._carry(self._gate.tick(now), now)
        is_over = now >= self._refusals.until
        return [*effects, *(self.flush() if is_over else ())]

    def flush(self) -> list[Record]:
        """Return what was counted and not put on record yet."""
        counted, self._refusals.more = self._refusals.more, 0
        last = self._refusals.last
        if not counted or last is None:
            return []
        return [Record(last.wish, last.error, last.by, counted)]

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        counted = self._refusals.until if self._refusals.more else None
        clocks = (self._gate.next_deadline(), counted)
        return min((at for at in clocks if at is not None), default=None)

    def _ask(self, asked: Asked, now: float) -> list[Effect]:
        wish = asked.wish
        effects: list[Effect] = []
        for held in [*self._held.values()]:
            if held.wish.mark != wish.mark:
                continue
            if held.wish.digest == wish.digest and held.notice is None:
                held.notice = asked.notice
                return self._come_back(held)
            effects += self._withdraw(held)
        self._held[asked.ticket] = _Held(asked.ticket, wish, asked.notice)
        submitted = gate.Submitted(asked.ticket, wish.actor, None, wish.digest)
        return [*effects, *self._carry(self._gate.handle(submitted, now), now)]

    def _come_back(self, held: _Held) -> list[Effect]:
        if held.answer is None or held.notice is None:
            return []
        del self._held[held.ticket]
        return [Answer(held.notice, held.answer[0])]

    def _interrupt(self, notice: int) -> list[Effect]:
        for held in self._held.values():
            if held.notice == notice:
                held.notice = None
        return []

    def _leave(self, mark: Mark) -> list[Effect]:
        gone = [held for held in self._held.values() if held.wish.mark == mark]
        return [effect for held in gone for effect in self._withdraw(held)]

    def _withdraw(self, held: _Held) -> list[Effect]:
        del self._held[held.ticket]
        # The waiter is gone, so only those who could approve are told.
        self._gate.handle(gate.PolicyFailed(held.ticket, ""), 0)
        self._gate.handle(gate.Denied(held.ticket, held.wish.actor), 0)
        effects: list[Effect] = []
        if held.notice is not None:
            effects.append(Answer(held.notice, _GIVEN_UP))
        if held.is_shown and held.answer is None:
            effects.append(Settle(held.ticket, held.wish, is_let=False, by=None))
        return effects

    def _carry(self, given: list[gate.Effect], now: float) -> list[Effect]:
        effects: list[Effect] = []
        for effect in given:
            match effect:
                case gate.Consult(ticket):
                    effects.append(Consult(ticket, self._held[ticket].wish))
                case gate.Preview(ticket):
                    # What it came from has begun: an exec cannot be tried out alone.
                    held_now = self._gate.handle(gate.Previewed(ticket, ""), now)
                    effects += self._carry(held_now, now)
                case gate.SeekApproval(ticket, _, _, _, rule):
                    held = self._held[ticket]
                    held.is_shown = True
                    effects.append(Show(ticket, held.wish, rule))
                case gate.Admit(ticket, _, approver):
                    effects += self._settle(ticket, None, approver, now)
                case gate.Reject(ticket, error):
                    effects += self._settle(ticket, error, _denier(error), now)
                case gate.Refuse():
                    effects.append(effect)
        return effects

    def _settle(
        self,
        ticket: int,
        error: errors.HoldfastError | None,
        by: ActorId | None,
        now: float,
    ) -> list[Effect]:
        held = self._held[ticket]
        record = Record(held.wish, error, by)
        effects: list[Effect] = []
        if held.is_shown:
            effects.append(Settle(ticket, held.wish, is_let=error is None, by=by))
        if held.notice is not None:
            del self._held[ticket]
            effects.insert(0, Answer(held.notice, error))
        elif isinstance(error, errors.ApprovalTimeout | errors.PolicyUnavailable):
            del self._held[ticket]  # It asks again when it comes back.
        else:
            held.answer = (error,)
        if error is not None:
            return [*effects, *self._count(record, now)]
        # A request for approval is on record, whatever the answer.
        return [*effects, *([record] if held.is_shown else [])]

    def _count(self, record: Record, now: float) -> list[Record]:
        account = self._refusals
        told: list[Record] = []
        if now >= account.until:
            told = self.flush()
            account.until, account.named = now + WINDOW, 0
        account.last = record
        if account.named >= MAX_NAMED:
            account.more += 1
            return told
        account.named += 1
        return [*told, record]


def _denier(error: errors.HoldfastError) -> ActorId | None:
    if isinstance(error, errors.DeniedByOperator):
        return ActorId(str(error.facts["approver"]))
    return None
