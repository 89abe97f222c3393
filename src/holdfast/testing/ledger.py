"""Checks that everything that happened kept holdfast's promises.

The ledger records what reaches the outside: bytes at a terminal, answers to
operators, changes of hands, routes. It knows nothing about how the core works and
keeps its own account, so that a bug cannot hide by fooling both. Numbers I1 to
I10 are those of the project's list of invariants (docs/explanation/simulator.md).
"""

from dataclasses import dataclass, field

from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.model.inputs import Input, InputId
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown
from holdfast.model.verdicts import Verdict
from holdfast.testing.world import demand

NOT_TAKEN = frozenset(
    {
        "busy",
        "input-gap",
        "input-id-reused",
        "input-too-large",
        "logbook-failed",
        "outcome-forgotten",
        "too-many-clients",
        "stale-incarnation",
    }
)
"""Refusals that say nothing final: the id is not used up, or was used elsewhere."""


@dataclass(slots=True)
class InputAccount:
    """All that was seen of one input."""

    input: Input
    digests: list[bytes] = field(default_factory=list)
    policy: Verdict | None = None
    approvals: list[tuple[ActorId, bytes, Epoch]] = field(default_factory=list)
    index: Index | None = None
    incarnation: Incarnation | None = None
    written: int = 0
    outcomes: list[Outcome] = field(default_factory=list)


@dataclass(slots=True)
class SessionAccount:
    """All that was seen of one session."""

    epoch: Epoch = Epoch(0)  # noqa: RUF009  # an int
    holder: ActorId | None = None
    was_free: bool = True
    turn_of: Incarnation = Incarnation(0)  # noqa: RUF009  # an int
    incarnation: Incarnation = Incarnation(0)  # noqa: RUF009  # an int
    last_place: tuple[int, int] = (0, -1)
    last_written: InputId | None = None
    sent: dict[tuple[ActorId, ClientId], int] = field(default_factory=dict)
    terminal: list[tuple[ActorId, InputId]] = field(default_factory=list)
    inputs: dict[tuple[ActorId, InputId], InputAccount] = field(default_factory=dict)
    granted: dict[Incarnation, str] = field(default_factory=dict)
    writers: dict[ActorId, bool] = field(default_factory=dict)
    revoked: dict[ActorId, bool] = field(default_factory=dict)


class Ledger:
    """The account of one run."""

    def __init__(self) -> None:
        self.forgives_return = False
        """Whether an earlier life may come back after a later one has ended: when
        the relay's store was rolled back and nobody is left who could say so. It
        must still not live *beside* it, and nothing it does is durable."""

        self._sessions: dict[SessionId, SessionAccount] = {}

    def account(self, session: SessionId) -> SessionAccount:
        """Return what is known of one session."""
        return self._sessions.setdefault(session, SessionAccount())

    # ── who may speak ─────────────────────────────────────────────────────

    def granted(self, session: SessionId, incarnation: Incarnation, host: str) -> None:
        """Take note that the relay let a host live as `incarnation`."""
        holder = self.account(session).granted.setdefault(incarnation, host)
        demand(holder == host, "I3", f"incarnation {incarnation} given to two hosts")

    def lived(self, session: SessionId, incarnation: Incarnation) -> None:
        """Take note that something was accepted or shown by `incarnation`."""
        account = self.account(session)
        demand(
            incarnation >= account.incarnation or self.forgives_return,
            "I2",
            f"incarnation {incarnation} acts after {account.incarnation} has begun",
        )
        account.incarnation = max(account.incarnation, incarnation)

    def passed(
        self,
        session: SessionId,
        incarnation: Incarnation,
        holder: ActorId | None,
        epoch: Epoch,
    ) -> None:
        """Take note that the turn changed hands."""
        account = self.account(session)
        if incarnation < account.turn_of:
            return  # A fenced host talks to itself; no one hears it.
        demand(epoch > account.epoch, "I3", f"epoch {epoch} after {account.epoch}")
        account.was_free = account.holder is None and epoch == account.epoch + 1
        account.epoch, account.holder = epoch, holder

    def resumed(
        self,
        session: SessionId,
        incarnation: Incarnation,
        epoch: Epoch,
        holder: ActorId | None,
    ) -> None:
        """Take note of the turn as a successor found it.

        Epochs are compared within a life: what a host took with it when it died
        may have been more than its successor can know of.
        """
        account = self.account(session)
        if incarnation < account.turn_of:
            return
        if incarnation == account.turn_of:
            demand(epoch >= account.epoch, "I3", f"epoch {epoch} after {account.epoch}")
        account.turn_of = incarnation
        account.epoch, account.holder, account.was_free = epoch, holder, False

    # ── inputs ────────────────────────────────────────────────────────────

    def submitted(self, session: SessionId, given: Input) -> InputAccount:
        """Open the account of an input, or return the one it has."""
        inputs = self.account(session).inputs
        key = given.actor, given.id
        if key not in inputs:
            inputs[key] = InputAccount(given)
        mine = inputs[key]
        if given.digest() not in mine.digests:
            mine.digests.append(given.digest())
        return mine

    def judged(self, session: SessionId, given: Input, verdict: Verdict | None) -> None:
        """Take note of what the policy said; None is no answer at all."""
        self.submitted(session, given).policy = verdict

    def approved(
        self, session: SessionId, given: Input, by: ActorId, digest: bytes, epoch: Epoch
    ) -> None:
        """Note that an operator approved these bytes under this epoch."""
        self.submitted(session, given).approvals.append((by, digest, epoch))

    def wrote(
        self,
        session: SessionId,
        incarnation: Incarnation,
        index: Index,
        given: Input,
        count: int,
    ) -> None:
        """Take note that the terminal accepted bytes of an input."""
        self.lived(session, incarnation)
        account = self.account(session)
        mine = self.submitted(session, given)
        if incarnation < account.incarnation:
            mine.written += count
            return
        demand(
            given.digest() in mine.digests,
            "I4",
            f"{given.id} was written with bytes it was not submitted with",
        )
        demand(given.actor == account.holder, "I5", f"{given.actor} has no turn")
        demand(
            given.epoch == account.epoch
            or (account.was_free and given.epoch == account.epoch - 1),
            "I5",
            f"{given.id} of epoch {given.epoch} written under {account.epoch}",
        )
        demand(given.actor in account.writers, "I4", f"{given.actor} may not write")
        demand(given.actor not in account.revoked, "I4", f"{given.actor} was revoked")
        demand(
            mine.index in (None, index) and mine.incarnation in (None, incarnation),
            "I1",
            f"{given.id} is applied again, at {index} after {mine.index}",
        )
        demand(
            (incarnation, index) > account.last_place
            or account.last_written == given.id,
            "I1",
            f"index {index} is applied after {account.last_place}",
        )
        self._demand_admitted(mine, account.epoch)
        sender = given.actor, given.id.client
        demand(
            given.id.sequence >= account.sent.get(sender, 0),
            "I1",
            f"{given.id} is applied after a later one of its client",
        )
        account.sent[sender] = given.id.sequence
        if mine.index is None:
            account.terminal.append((given.actor, given.id))
        mine.index, mine.incarnation = index, incarnation
        mine.written += count
        account.last_place, account.last_written = (incarnation, index), given.id
        demand(mine.written <= len(given.payload), "I1", f"{given.id} twice in part")

    def answered(
        self, session: SessionId, given: Input, outcome: Outcome, durable: int
    ) -> None:
        """Take note of what an operator is told; `durable` lines are on disk."""
        mine = self.submitted(session, given)
        if isinstance(outcome, Applied):
            demand(mine.index == outcome.index, "I1", f"{given.id} acked elsewhere")
            demand(mine.written == len(given.payload), "I1", f"{given.id} not applied")
            demand(durable > outcome.index, "I1", f"{given.id} acked, not durable")
        elif isinstance(outcome, Cut):
            demand(mine.written == outcome.written, "I5", f"{given.id} cut wrongly")

    def heard(
        self, session: SessionId, actor: ActorId, known: InputId, outcome: Outcome
    ) -> None:
        """Take note of what an operator was really told: an answer may be lost."""
        mine = self.account(session).inputs.get((actor, known))
        if mine is not None:
            mine.outcomes.append(outcome)

    def revoked(self, session: SessionId, actor: ActorId) -> None:
        """Take note that a revocation is durable."""
        self.account(session).revoked[actor] = True

    def _demand_admitted(self, mine: InputAccount, epoch: Epoch) -> None:
        if mine.policy is Verdict.ALLOW:
            return
        approved = mine.policy in (Verdict.ASK, Verdict.PREVIEW) and any(
            by != mine.input.actor and digest in mine.digests and at == epoch
            for by, digest, at in mine.approvals
        )
        demand(approved, "I4", f"{mine.input.id} passed the gate on {mine.policy}")

    # ── at the end ────────────────────────────────────────────────────────

    def close(self) -> None:
        """Check what can only be seen from the end."""
        for account in self._sessions.values():
            for mine in account.inputs.values():
                self._check_outcomes(mine)

    def _check_outcomes(self, mine: InputAccount) -> None:
        told = [outcome for outcome in mine.outcomes if not _is_open(outcome)]
        known = [outcome for outcome in told if not isinstance(outcome, Unknown)]
        for outcome in known:
            demand(
                _words(outcome) == _words(known[0]),
                "I10",
                f"{mine.input.id} was told {known[0]} and then {outcome}",
            )
            if isinstance(outcome, (Refused, Dropped)):
                demand(mine.written == 0, "I1", f"{mine.input.id} refused, yet written")
            if isinstance(outcome, Cut):
                demand(
                    mine.written == outcome.written, "I5", f"{mine.input.id} after cut"
                )
            if isinstance(outcome, Applied):
                later = told[told.index(outcome) :]
                demand(
                    not any(isinstance(other, Unknown) for other in later),
                    "I10",
                    f"{mine.input.id} was acknowledged and then in doubt",
                )


def _is_open(outcome: Outcome) -> bool:
    return isinstance(outcome, Refused) and outcome.error.code in NOT_TAKEN


def _words(outcome: Outcome) -> tuple[str, int]:
    """Return what must stay the same when an outcome is asked for again.

    Doubt may be lifted, and a later life may know less than an earlier one did;
    but what was acknowledged is never doubted again. A refusal is told with its
    reason once, and later perhaps from the logbook, which keeps less of it.
    Dropped before it was logged is told as a refusal.
    """
    match outcome:
        case Applied(index):
            return "applied", index
        case Refused() | Dropped():
            return "not written", 0
        case Cut(index):
            return "cut", index
        case Unknown(index):
            return "unknown", index


def error_code(outcome: Outcome) -> str:
    """Return the code of a refusal, or '' for anything else."""
    if isinstance(outcome, Refused):
        return str(outcome.error.facts.get("code", outcome.error.code))
    return ""
