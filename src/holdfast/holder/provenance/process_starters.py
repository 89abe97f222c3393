"""Who started the processes of this session.

The session's leader belongs to its creator. What the leader starts belongs to the
command that ran then, and so does everything below it, as core.provenance.lineage
traces it. Where the shell reports nothing about its commands, all that is known is who
created the session.
"""

from collections.abc import Iterable

from holdfast.core.provenance.lineage import Kin, roots
from holdfast.holder.provenance.blame import Followed
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux.procfs import TICKS
from holdfast.model.ids import ActorId

NOBODY = ActorId("")


class ProcessStarters:
    """Names who started what."""

    def __init__(self, vaulted: Vaulted, shell: Followed) -> None:
        self._vaulted = vaulted
        self._shell = shell

    def actors(self, processes: Iterable[Kin]) -> dict[int, ActorId]:
        """Return who started each of these processes, as far as it is known."""
        leader = self._vaulted.record.pid
        found = roots(processes, leader)
        creator = ActorId(self._vaulted.held.begun_by)
        actors = {
            root: creator
            if root.pid == leader
            else self._starter(root.started, creator)
            for root in set(found.values())
        }
        return {pid: actors[root] for pid, root in found.items()}

    def _starter(self, ticks: int, creator: ActorId) -> ActorId:
        if not self._shell.is_marked:
            return NOBODY
        return self._shell.origins.starter(ticks * 1000 // TICKS, creator)
