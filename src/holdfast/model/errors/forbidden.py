"""You may not, as things stand: get the authority first."""

from holdfast.model.errors.branches import Forbidden


class NotAllowed(Forbidden):
    """The actor's envelope does not cover the request."""

    code = "not-allowed"
    next_step = "Ask somebody with `grant` for the right."

    def __init__(self, actor: str, right: str) -> None:
        super().__init__(f"{actor} may not {right} here", actor=actor, right=right)


class WiderThanGiven(Forbidden):
    """Somebody tried to pass on more than they have."""

    code = "wider-than-given"
    next_step = "Pass on only what you hold yourself."

    def __init__(self, what: str) -> None:
        super().__init__(f"cannot pass on {what}: it was not given to you", what=what)


class NotYourTurn(Forbidden):
    """Somebody else, or nobody, has the right to write."""

    code = "not-your-turn"
    next_step = "`ask` for the turn, or `take` it if it is free."

    def __init__(self, holder: str, epoch: int) -> None:
        super().__init__(
            f"{holder or 'nobody'} has the turn (epoch {epoch})",
            holder=holder,
            epoch=epoch,
        )


class StaleEpoch(Forbidden):
    """The input was made under a turn that has since changed hands."""

    code = "stale-epoch"
    next_step = "Look at what has changed, then send it again under the new epoch."

    def __init__(self, epoch: int, holder: str, current: int) -> None:
        super().__init__(
            f"turn epoch {epoch} is over; {holder or 'nobody'} has the turn"
            f" (epoch {current})",
            epoch=epoch,
            holder=holder,
            current=current,
        )


class TurnMoved(Forbidden):
    """An input was dropped, unwritten, because the turn changed hands."""

    code = "turn-moved"
    next_step = "Look at what has changed before sending it again."

    def __init__(self, holder: str, epoch: int) -> None:
        super().__init__(
            f"dropped unwritten: the turn passed to {holder or 'nobody'}"
            f" (epoch {epoch})",
            holder=holder,
            epoch=epoch,
        )


class DeniedByPolicy(Forbidden):
    """The gate judged the input and refused it."""

    code = "denied-by-policy"
    next_step = (
        "`holdfast gate test` says which rule applies to what;"
        " `holdfast gate example` prints a policy to begin with."
    )

    def __init__(self, rule: str, why: str = "") -> None:
        said = f": {why}" if why else ""
        super().__init__(f"denied by policy rule {rule!r}{said}", rule=rule, why=why)


class DeniedByOperator(Forbidden):
    """An operator with `approve` was asked and said no."""

    code = "denied-by-operator"
    next_step = "Ask them why."

    def __init__(self, approver: str) -> None:
        super().__init__(f"{approver} was asked and denied it", approver=approver)


class SelfApproval(Forbidden):
    """The asker tried to approve their own request."""

    code = "self-approval"
    next_step = "Somebody else with `approve` must answer."

    def __init__(self, actor: str) -> None:
        super().__init__(f"{actor} cannot approve their own input", actor=actor)


class ApprovalMismatch(Forbidden):
    """An approval was for other bytes than those that wait."""

    code = "approval-mismatch"
    next_step = "Look at what is pending now, and answer that."

    def __init__(self, ticket: int) -> None:
        super().__init__(
            f"what is pending under {ticket} is not what was approved", ticket=ticket
        )


class Frozen(Forbidden):
    """The session is frozen; nothing is written to it."""

    code = "frozen"
    next_step = "`holdfast thaw` it first."

    def __init__(self) -> None:
        super().__init__("the session is frozen")


class LogbookWithheld(Forbidden):
    """A log does not say what a receipt proves it once said."""

    code = "log-contradicts-receipt"
    next_step = "Keep the receipt: it is evidence. Do not trust this log."

    def __init__(self, index: int) -> None:
        super().__init__(
            f"the log contradicts a receipt for entry {index}", index=index
        )


class UnknownOperator(Forbidden):
    """Nobody of that name or key is known here."""

    code = "unknown-operator"
    next_step = "`holdfast operators` lists who is; --as NAME makes a new one."

    def __init__(self, operator: str) -> None:
        super().__init__(f"no operator {operator!r} is known here", operator=operator)


class NotProven(Forbidden):
    """A client did not prove that it is the operator it claims to be."""

    code = "not-proven"
    next_step = "Use the key of your own profile."

    def __init__(self, actor: str) -> None:
        super().__init__(f"{actor or 'somebody'} has not proven it", actor=actor)


class InviteUnknown(Forbidden):
    """No invitation of that id is open: it was used, it expired, or never was."""

    code = "invite-unknown"
    next_step = "Ask for another invitation."

    def __init__(self) -> None:
        super().__init__("the invitation was used, has expired, or never was")


class TicketRefused(Forbidden):
    """A ticket was used before, too late, or by somebody it was not given to."""

    code = "ticket-refused"
    next_step = "Wait for the next knock; a ticket is good once and for seconds."

    def __init__(self) -> None:
        super().__init__("the relay does not take this ticket")


class NotEntrusted(Forbidden):
    """A host asked about a session that was never entrusted to it."""

    code = "not-entrusted"
    next_step = "Have the session's present host entrust it to this one."

    def __init__(self, session: str) -> None:
        super().__init__(f"{session} is not entrusted to this host", session=session)


class InviteExpired(Forbidden):
    """The invitation was good until a moment that is past."""

    code = "invite-expired"
    next_step = "Ask whoever invited you for another link."

    def __init__(self) -> None:
        super().__init__("the invitation has expired")


class InviteUsed(Forbidden):
    """The invitation was good once, and somebody has used it."""

    code = "invite-used"
    next_step = "If it was not you, tell whoever invited you; else ask for another."

    def __init__(self) -> None:
        super().__init__("the invitation was used already, by another key")


class Revoked(Forbidden):
    """The host does not know this operator's key, or no longer."""

    code = "revoked"
    next_step = "Ask somebody at the host for an invitation."

    def __init__(self, host: str) -> None:
        super().__init__(f"{host} does not let us in, or no longer", host=host)


class StatementRefused(Forbidden):
    """A client signed inputs that are not in the book, or not those next in line."""

    code = "statement-refused"
    next_step = "Sign each input of a client once, in order, after it was answered."

    def __init__(self, why: str) -> None:
        super().__init__(f"the statement is not kept: {why}", why=why)
