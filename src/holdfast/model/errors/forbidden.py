"""You may not, as things stand: get the authority first."""

from holdfast.model.errors.branches import Forbidden


class NotAllowed(Forbidden):
    """The actor's envelope does not cover the request."""

    actor: str
    right: str

    says = "{actor} may not {right} here"
    next_step = "Ask an operator with the right `grant`."


class DetachedBy(Forbidden):
    """An operator had this client hung up on."""

    by: str

    says = "detached by {by}"
    next_step = "`holdfast attach` attaches again."


class WiderThanGiven(Forbidden):
    """Somebody tried to pass on more than they have."""

    what: str

    says = "cannot pass on {what}: it was not given to you"
    next_step = "Pass on only what you hold yourself."


class NotYourTurn(Forbidden):
    """Somebody else, or nobody, has the right to write."""

    holder: str
    epoch: int

    next_step = "`ask` for the turn, or `take` it if it is free."

    def _sentence(self) -> str:
        return f"{self.holder or 'nobody'} has the turn (epoch {self.epoch})"


class StaleEpoch(Forbidden):
    """The input was made under a turn that has since changed hands."""

    epoch: int
    holder: str
    current: int

    next_step = "Look at what has changed, then send it again under the new epoch."

    def _sentence(self) -> str:
        return (
            f"turn epoch {self.epoch} is over; {self.holder or 'nobody'} has the turn"
            f" (epoch {self.current})"
        )


class TurnMoved(Forbidden):
    """An input was dropped, unwritten, because the turn changed hands."""

    holder: str
    epoch: int

    next_step = "Look at what has changed before sending it again."

    def _sentence(self) -> str:
        return (
            f"dropped unwritten: the turn passed to {self.holder or 'nobody'}"
            f" (epoch {self.epoch})"
        )


class DeniedByPolicy(Forbidden):
    """The gate judged the input and refused it."""

    rule: str
    why: str

    next_step = (
        "`holdfast gate test` says which rule applies to what;"
        " `holdfast gate example` prints a policy to start from."
    )

    def _sentence(self) -> str:
        said = f": {self.why}" if self.why else ""
        return f"denied by policy rule {self.rule!r}{said}"


class DeniedByOperator(Forbidden):
    """An operator with `approve` was asked and said no."""

    approver: str

    says = "{approver} denied it"
    next_step = "Ask them why."


class SelfApproval(Forbidden):
    """The asker tried to approve their own request."""

    actor: str

    says = "{actor} cannot approve their own input"
    next_step = "Somebody else with `approve` must answer."


class ApprovalMismatch(Forbidden):
    """An approval was for other bytes than those that wait."""

    ticket: int

    says = "request {ticket} is no longer what was approved"
    next_step = "Look at what is pending now, and answer that."


class Frozen(Forbidden):
    """The session is frozen; nothing is written to it."""

    says = "the session is frozen"
    next_step = "`holdfast thaw` it first."


class LogbookWithheld(Forbidden):
    """A log does not say what a receipt proves it once said."""

    index: int

    code = "log-contradicts-receipt"
    says = "the log contradicts a receipt for entry {index}"
    next_step = "Keep the receipt: it is evidence. Do not trust this log."


class UnknownOperator(Forbidden):
    """Nobody of that name or key is known here."""

    operator: str

    says = "no operator {operator!r} is known here"
    next_step = "`holdfast operators` lists them; --as NAME adds one."


class NotProven(Forbidden):
    """A client did not prove that it is the operator it claims to be."""

    actor: str

    next_step = "Use the key of your own profile."

    def _sentence(self) -> str:
        return f"{self.actor or 'somebody'} has not proven it"


class InviteUnknown(Forbidden):
    """No invitation of that id is open: it was used, it expired, or never was."""

    says = "the invitation was used, has expired, or does not exist"
    next_step = "Ask for another invitation."


class TicketRefused(Forbidden):
    """A ticket was used before, too late, or by somebody it was not given to."""

    says = "the relay does not accept this ticket"
    next_step = "Wait for the next knock; a ticket is good once and for seconds."


class NotEntrusted(Forbidden):
    """A host asked about a session that was never entrusted to it."""

    session: str

    says = "{session} is not entrusted to this host"
    next_step = "Have the session's present host entrust it to this one."


class InviteExpired(Forbidden):
    """The invitation was good until a moment that is past."""

    says = "the invitation has expired"
    next_step = "Ask the person who invited you for another link."


class InviteUsed(Forbidden):
    """The invitation was good once, and somebody has used it."""

    says = "the invitation was used already, by another key"
    next_step = (
        "If it was not you, tell the person who invited you; otherwise ask for another."
    )


class Revoked(Forbidden):
    """The host does not know this operator's key, or no longer."""

    host: str

    says = "{host} does not let us in"
    next_step = "Ask somebody at the host for an invitation."


class StatementRefused(Forbidden):
    """A client signed inputs that are not in the book, or not those next in line."""

    why: str

    says = "the statement is not kept: {why}"
    next_step = "Sign each input of a client once, in order, after it was answered."
