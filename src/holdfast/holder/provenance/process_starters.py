"""Who started the processes of this session.

The session's leader belongs to its creator. What the leader starts belongs to the
command that ran then, and so does everything below it, as core.provenance.lineage
traces it. Where the shell reports nothing about its commands, all that is known is who
created the session.
"""

from collections.abc import Iterable, Mapping

from holdfast.core.provenance.lineage import ProcessStart, roots
from holdfast.holder.provenance.blame import Followed
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.process_table import Process
from holdfast.linux.procfs import TICKS
from holdfast.model.ids import ActorId
from holdfast.wire.image_manifest import Manifest

NOBODY = ActorId("")

MAX_RESTORED = 200
"""Processes below a restored shell of which it is known who started them."""


def written_starters(
    processes: Iterable[ProcessStart], leader: int, actors: Mapping[int, ActorId]
) -> tuple[str, ...]:
    """Return who started processes that a restore has made: they have no other past.

    `actors` has what an image says of it, by process. Only what is not below another
    is listed: the rest follows.
    """
    found = {*roots(processes, leader).values()}
    told = ((one, actors.get(one.pid)) for one in sorted(found))
    listed = [f"{one.pid} {one.started} {actor}" for one, actor in told if actor]
    return tuple(listed[:MAX_RESTORED])


def restored_starters(
    members: Mapping[int, Process], leader: int, manifest: Manifest
) -> tuple[str, ...]:
    """Return who started what a restore has made, by what its image says."""
    starts = [
        ProcessStart(one.pid, one.parent, one.started) for one in members.values()
    ]
    actors = {
        members[one.pid].pid: one.actor
        for one in manifest.starters
        if one.pid in members
    }
    return written_starters(starts, leader, actors)


def read_starters(written: Iterable[str]) -> dict[tuple[int, int], ActorId]:
    """Return what `written_starters` wrote."""
    words = (one.split(" ") for one in written)
    return {(int(pid), int(at)): ActorId(actor) for pid, at, actor in words}


class ProcessStarters:
    """Names who started what."""

    def __init__(self, descriptors: SessionDescriptors, shell: Followed) -> None:
        self._descriptors = descriptors
        self._shell = shell

    def actors(self, processes: Iterable[ProcessStart]) -> dict[int, ActorId]:
        """Return who started each of these processes, as far as it is known."""
        leader = self._descriptors.record.pid
        found = roots(processes, leader)
        creator = ActorId(self._descriptors.held.begun_by)
        known = read_starters(self._descriptors.held.starters)
        actors = {
            root: creator
            if root.pid == leader
            else known.get((root.pid, root.started))
            or self._starter(root.started, creator)
            for root in set(found.values())
        }
        return {pid: actors[root] for pid, root in found.items()}

    def _starter(self, ticks: int, creator: ActorId) -> ActorId:
        if not self._shell.is_marked:
            return NOBODY
        return self._shell.origins.starter(ticks * 1000 // TICKS, creator)
