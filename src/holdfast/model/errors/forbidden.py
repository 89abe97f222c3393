"""You may not, as things stand: get the authority first."""

from holdfast.model.errors.branches import Forbidden


class NotAllowed(Forbidden):
    """The actor's envelope does not cover the request."""

    actor: str
    right: str

    says = "{actor} may not {right} here"
    next_step = "Ask an operator with the right `grant`."


class DetachedBy(Forbidden):
    """Another operator detached this client."""

    by: str

    says = "detached by {by}"
    next_step = "`holdfast attach` attaches again."


class WiderThanGiven(Forbidden):
    """An operator tried to grant more than it has."""

    what: str

    says = "cannot grant {what}: you do not have it"
    next_step = "Grant only what you have yourself."


class NotYourTurn(Forbidden):
    """Another operator has the turn, or the turn is free."""

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
    """An input was discarded unwritten, because the turn changed hands."""

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
        "`holdfast gate test` shows which rule applies; `holdfast gate example`"
        " prints a policy to start from."
    )

    def _sentence(self) -> str:
        said = f": {self.why}" if self.why else ""
        return f"denied by policy rule {self.rule!r}{said}"


class DeniedByOperator(Forbidden):
    """An operator with the right `approve` denied the input."""

    approver: str

    says = "{approver} denied it"
    next_step = "Ask them why."


class SelfApproval(Forbidden):
    """An operator tried to approve its own request."""

    actor: str

    says = "{actor} cannot approve its own input"
    next_step = "Another operator with the right `approve` must answer."


class ApprovalMismatch(Forbidden):
    """An approval was given for other bytes than those that are pending."""

    ticket: int

    says = "request {ticket} is no longer what was approved"
    next_step = "Look at what is pending now, and answer that."


class Frozen(Forbidden):
    """The session is frozen; nothing is written to it."""

    says = "the session is frozen"
    next_step = "`holdfast thaw` it first."


class LogbookWithheld(Forbidden):
    """The logbook contradicts a receipt: an entry that was proven is different."""

    index: int

    code = "log-contradicts-receipt"
    says = "the log contradicts a receipt for entry {index}"
    next_step = "Keep the receipt as evidence. Do not trust this logbook."


class UnknownOperator(Forbidden):
    """No operator of that name or key is known here."""

    operator: str

    says = "no operator {operator!r} is known here"
    next_step = "`holdfast operators` lists them; --as NAME adds one."


class NotProven(Forbidden):
    """A client did not prove that it is the operator it claims to be."""

    actor: str

    next_step = "Use the key of your own profile."

    def _sentence(self) -> str:
        return f"{self.actor or 'the client'} has not proven its identity"


class InviteUnknown(Forbidden):
    """There is no open invitation of that id: used, expired, or never made."""

    says = "the invitation was used, has expired, or does not exist"
    next_step = "Ask for another invitation."


class TicketRefused(Forbidden):
    """A relay ticket was already used, too old, or given to another operator."""

    says = "the relay does not accept this ticket"
    next_step = (
        "Wait for the next invitation by the relay; a ticket works once, for seconds."
    )


class NotEntrusted(Forbidden):
    """A host asked about a session that was not handed to it."""

    session: str

    says = "{session} was not handed to this host"
    next_step = "Have the session's current host hand it over."


class InviteExpired(Forbidden):
    """The invitation has expired."""

    says = "the invitation has expired"
    next_step = "Ask the person who invited you for another link."


class InviteUsed(Forbidden):
    """The invitation works once, and was already used."""

    says = "the invitation was used already, by another key"
    next_step = (
        "If it was not you, tell the person who invited you; otherwise ask for another."
    )


class Revoked(Forbidden):
    """The host does not know this operator's key, or no longer accepts it."""

    host: str

    says = "{host} does not let us in"
    next_step = "Ask an operator of that host for an invitation."


class StatementRefused(Forbidden):
    """A client signed inputs that are not in the logbook, or out of order."""

    why: str

    says = "the signature was not accepted: {why}"
    next_step = "Sign each input of a client once, in order, after it was answered."


class OnlyATrial(Forbidden):
    """A branch made for a preview cannot replace its parent."""

    session: str

    says = "{session} was made for a preview, and cannot be promoted"
    next_step = "`holdfast fork` makes a branch that can be promoted."
