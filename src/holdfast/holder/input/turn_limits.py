"""The turn rules and budgets in force.

They come from the policy file, as it is at the time of an action. Without a file,
or where it says nothing, turns have no limit and nobody has a budget.

What has been spent outlives this process through the logbook: the inputs of the last
minute are counted again. They carry wall-clock times; a clock that was set back makes
them look more recent than they are, which is the safe side to err on.
"""

from collections.abc import Sequence

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.budget import MINUTE
from holdfast.core.input.intake import Intake
from holdfast.core.policy.policy import Policy  # noqa: TC001  # an annotation people read
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.linux.stored import operators
from holdfast.model.ids import ActorId
from holdfast.model.inputs import InputKind
from holdfast.model.moments import Moment


class TurnLimits:
    """Carries what the policy says of turns and budgets to who keeps to it."""

    def __init__(
        self, in_force: PolicyInForce, clients: AttachedClients, intake: Intake
    ) -> None:
        self._in_force = in_force
        self._clients = clients
        self._intake = intake
        self._heeded: Policy | None = None

    def refresh(self) -> None:
        """Let what the file says now hold from now on."""
        self._in_force.refresh()
        policy = self._in_force.policy
        if policy is not self._heeded:
            self._heeded = policy
            self._intake.adopt(policy.turn, policy.budgets)

    def take_up(
        self, entries: Sequence[Entry], holder: ActorId | None, at: Moment
    ) -> None:
        """Go on where a predecessor was; before the turn is taken up."""
        self.refresh()
        if not self._in_force.policy.budgets:
            return
        since = (at.wall - MINUTE) * 1000
        spent = [
            entry
            for entry in entries
            if entry.kind is EntryKind.INPUT and entry.at_wall_ms >= since
        ]
        actors = {ActorId(str(entry.fields["actor"])) for entry in spent}
        # Nobody has come yet, and a stranger would be taken for an agent.
        for known in operators.enrolled():
            if known.actor.id in actors or known.actor.id == holder:
                self._clients.meet(known.actor)
        for entry in spent:
            ago = max(0.0, at.wall - entry.at_wall_ms / 1000)
            self._intake.budgets.remember(
                ActorId(str(entry.fields["actor"])),
                InputKind(str(entry.fields["input"])),
                int(entry.fields["size"] or 0),
                at.now - ago,
            )
