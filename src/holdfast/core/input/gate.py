"""Whether an act may happen, judged by the state as it is now.

Theory of operation
-------------------
Every act gets a ticket before its first byte. The policy is consulted; it says
allow, deny, ask or preview. On *ask* the act is held until an operator with
`approve`, other than the asker, answers. On *preview* it is tried out in a
branch of the session before that, so that the operator sees what it did there. If
that fails, or takes too long, the operator is asked without it.

    CONSULTED ──allow────────────────────────────▶ admitted
        │ └─────deny, failure, no answer in time─▶ rejected
        │─preview─▶ TRIED ──result, no result in time─┐
        └─ask─▶ PENDING ◀─────────────────────────────┘
                   │──approved───────────────────▶ admitted
                   └──denied, withdrawn, asker gone, turn moved, no answer
                      in time───────────────────▶ rejected

What has become senseless meanwhile is rejected in any state.

An answer is bound to a digest of the exact bytes and to the turn epoch under
which they wait, so it cannot be carried over to something else, not even by a
gate that was started anew and counts its tickets from one again. The gate does
not know rules; it knows what their answers may lead to.

Invariants, each checked by tests/core/input/test_gate_properties.py:

I1  Nothing is admitted but by an *allow*, or by an *ask* or *preview* and an
    approval.
I2  Nobody approves what they asked for.
I3  An approval of other bytes or another epoch than those that wait admits nothing.
I4  A ticket made under a turn is gone when that turn is cut short.
I5  Every ticket is admitted or rejected exactly once, in bounded time.
I6  A policy that fails, hangs or talks nonsense denies.
"""

import enum
from dataclasses import dataclass, replace

from holdfast.model import errors
from holdfast.model.ids import ActorId, Epoch
from holdfast.model.verdicts import Verdict

MAX_PENDING = 16
"""Tickets one actor may have open; people cannot read more than that anyway."""


@dataclass(frozen=True, slots=True)
class GateRules:
    """How long the gate waits, in seconds, before silence means no."""

    policy_timeout: float = 2.0
    approval_timeout: float = 300.0
    preview_timeout: float = 120.0
    """Or before it is asked for without a preview."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """An act wants to pass. `epoch` is None for acts that need no turn."""

    ticket: int
    actor: ActorId
    epoch: Epoch | None
    digest: bytes


@dataclass(frozen=True, slots=True)
class Judged:
    """The policy answered, by the rule it names and what that says of itself."""

    ticket: int
    verdict: Verdict
    rule: str
    why: str = ""
    policy: str = ""
    """The digest of the policy that answered; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Previewed:
    """The act was tried out, or could not be; `report` is the digest of the report."""

    ticket: int
    report: str


@dataclass(frozen=True, slots=True)
class PolicyFailed:
    """The policy crashed or talked nonsense; `why` completes "the policy …"."""

    ticket: int
    why: str


@dataclass(frozen=True, slots=True)
class Approved:
    """An operator approved these bytes, as they wait under this epoch."""

    ticket: int
    approver: ActorId
    digest: bytes
    epoch: Epoch | None


@dataclass(frozen=True, slots=True)
class Denied:
    """An operator denied, or the asker withdrew, what waits."""

    ticket: int
    approver: ActorId


@dataclass(frozen=True, slots=True)
class Abandoned:
    """Nobody waits for it any more, or it makes no sense any more, and why."""

    ticket: int
    error: errors.HoldfastError | None = None
    """None: the sender of the waiting input is gone for good."""


@dataclass(frozen=True, slots=True)
class CutShort:
    """What waited under the turn was thrown away: it moved, or froze, or ended."""

    error: errors.HoldfastError


@dataclass(frozen=True, slots=True)
class Consult:
    """Ask the policy about a ticket."""

    ticket: int


@dataclass(frozen=True, slots=True)
class SeekApproval:
    """Show operators with `approve` what waits, and by which rule."""

    ticket: int
    actor: ActorId
    epoch: Epoch | None
    digest: bytes
    rule: str
    report: str = ""
    """The digest of what a preview of it showed; empty if there was none."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Try the act out where it does no harm, and tell what it did."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Admit:
    """Let the act happen: by `rule`, and by `approver` if one was asked."""

    ticket: int
    rule: str
    approver: ActorId | None


@dataclass(frozen=True, slots=True)
class Reject:
    """Do not let the act happen."""

    ticket: int
    error: errors.HoldfastError


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell an operator that its answer does not count, and why."""

    actor: ActorId
    error: errors.HoldfastError


Event = (
    Submitted
    | Judged
    | Previewed
    | PolicyFailed
    | Approved
    | Denied
    | Abandoned
    | CutShort
)
Result = Previewed | PolicyFailed | Abandoned
Effect = Consult | Preview | SeekApproval | Admit | Reject | Refuse


class TicketState(enum.Enum):
    """Whose answer a ticket waits for."""

    CONSULTED = enum.auto()
    TRIED = enum.auto()
    PENDING = enum.auto()


@dataclass(frozen=True, slots=True)
class Ticket:
    """One act on its way through the gate."""

    number: int
    actor: ActorId
    epoch: Epoch | None
    digest: bytes
    state: TicketState
    deadline: float
    rule: str = ""


class Gate:
    """The gate of one session."""

    def __init__(self, rules: GateRules | None = None) -> None:
        self._rules = rules or GateRules()
        self.open: dict[int, Ticket] = {}

    def pending(self) -> tuple[Ticket, ...]:
        """Return what waits for an operator's answer, oldest first."""
        return tuple(
            ticket
            for ticket in self.open.values()
            if ticket.state is TicketState.PENDING
        )

    def is_consulting(self, ticket: int) -> bool:
        """Tell whether the policy's answer to a ticket still counts."""
        return self._in_state(ticket, TicketState.CONSULTED) is not None

    def is_trying(self, ticket: int) -> bool:
        """Tell whether the result of a preview still counts."""
        return self._in_state(ticket, TicketState.TRIED) is not None

    def handle(  # noqa: PLR0911  # one case for each event
        self, event: Event, now: float
    ) -> list[Effect]:
        """Take what an actor, a policy or an operator said."""
        match event:
            case Submitted():
                return self._submit(event, now)
            case Judged():
                return self._judge(event, now)
            case Previewed(ticket, report):
                return self._preview(ticket, report, now)
            case PolicyFailed(ticket, why):
                return self._fail(ticket, why)
            case Approved() | Denied():
                return self._answer(event)
            case Abandoned():
                return self._abandon(event)
            case CutShort(error):
                return self._cut_short(error)

    def tick(self, now: float) -> list[Effect]:
        """Do what the clock demands. Call it at or after `next_deadline()`."""
        late = [ticket for ticket in self.open.values() if now >= ticket.deadline]
        return [self._late(ticket, now) for ticket in late]

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        return min((ticket.deadline for ticket in self.open.values()), default=None)

    def _submit(self, event: Submitted, now: float) -> list[Effect]:
        actor, waiting = event.actor, self.open.values()
        if waiting and sum(one.actor == actor for one in waiting) >= MAX_PENDING:
            return [Reject(event.ticket, errors.TooManyPending(MAX_PENDING))]
        self.open[event.ticket] = Ticket(
            event.ticket,
            event.actor,
            event.epoch,
            event.digest,
            TicketState.CONSULTED,
            now + self._rules.policy_timeout,
        )
        return [Consult(event.ticket)]

    def _judge(self, event: Judged, now: float) -> list[Effect]:
        ticket = self._in_state(event.ticket, TicketState.CONSULTED)
        if ticket is None:
            return []  # Too late: the clock or the turn has decided already.
        match event.verdict:
            case Verdict.ALLOW:
                return [self._admit(ticket, event.rule, None)]
            case Verdict.DENY:
                return [
                    self._reject(ticket, errors.DeniedByPolicy(event.rule, event.why))
                ]
            case Verdict.ASK:
                return [self._hold(ticket, event.rule, now)]
            case Verdict.PREVIEW:
                self.open[ticket.number] = replace(
                    ticket,
                    state=TicketState.TRIED,
                    deadline=now + self._rules.preview_timeout,
                    rule=event.rule,
                )
                return [Preview(ticket.number)]

    def _preview(self, number: int, report: str, now: float) -> list[Effect]:
        ticket = self._in_state(number, TicketState.TRIED)
        return [] if ticket is None else [self._hold(ticket, ticket.rule, now, report)]

    def _hold(self, ticket: Ticket, rule: str, now: float, report: str = "") -> Effect:
        self.open[ticket.number] = replace(
            ticket,
            state=TicketState.PENDING,
            deadline=now + self._rules.approval_timeout,
            rule=rule,
        )
        return SeekApproval(
            ticket.number, ticket.actor, ticket.epoch, ticket.digest, rule, report
        )

    def _fail(self, number: int, why: str) -> list[Effect]:
        ticket = self._in_state(number, TicketState.CONSULTED)
        return (
            []
            if ticket is None
            else [self._reject(ticket, errors.PolicyUnavailable(why))]
        )

    def _answer(self, event: Approved | Denied) -> list[Effect]:
        if isinstance(event, Approved):
            return self._approve(event)
        return self._deny(event.ticket, event.approver)

    def _approve(self, event: Approved) -> list[Effect]:
        ticket = self._in_state(event.ticket, TicketState.PENDING)
        if ticket is None:
            return [Refuse(event.approver, errors.NothingPending(event.ticket))]
        if event.approver == ticket.actor:
            return [Refuse(event.approver, errors.SelfApproval(event.approver))]
        if (event.digest, event.epoch) != (ticket.digest, ticket.epoch):
            return [Refuse(event.approver, errors.ApprovalMismatch(event.ticket))]
        return [self._admit(ticket, ticket.rule, event.approver)]

    def _deny(self, number: int, approver: ActorId) -> list[Effect]:
        ticket = self._in_state(number, TicketState.PENDING)
        if ticket is None:
            return [Refuse(approver, errors.NothingPending(number))]
        return [self._reject(ticket, errors.DeniedByOperator(approver))]

    def _abandon(self, event: Abandoned) -> list[Effect]:
        number, error = event.ticket, event.error
        if error is None:
            ticket, error = (
                self._in_state(number, TicketState.PENDING),
                errors.AskerGone(number),
            )
        else:
            ticket = self.open.get(number)
        return [] if ticket is None else [self._reject(ticket, error)]

    def _cut_short(self, error: errors.HoldfastError) -> list[Effect]:
        gone = [ticket for ticket in self.open.values() if ticket.epoch is not None]
        return [self._reject(ticket, error) for ticket in gone]

    def _in_state(self, number: int, state: TicketState) -> Ticket | None:
        ticket = self.open.get(number)
        return ticket if ticket is not None and ticket.state is state else None

    def _late(self, ticket: Ticket, now: float) -> Effect:
        match ticket.state:
            case TicketState.CONSULTED:
                why = "did not answer in time"
                return self._reject(ticket, errors.PolicyUnavailable(why))
            case TicketState.TRIED:
                return self._hold(ticket, ticket.rule, now)
            case TicketState.PENDING:
                waited = round(self._rules.approval_timeout)
                return self._reject(ticket, errors.ApprovalTimeout(waited))

    def _admit(self, ticket: Ticket, rule: str, approver: ActorId | None) -> Effect:
        del self.open[ticket.number]
        return Admit(ticket.number, rule, approver)

    def _reject(self, ticket: Ticket, error: errors.HoldfastError) -> Effect:
        del self.open[ticket.number]
        return Reject(ticket.number, error)
