"""What does whoever gets the turn take over with it?

A line that somebody else has typed and not entered, and what runs: pressing
Return, or going away, would make both one's own.
"""

from holdfast.core.staged import Staged
from holdfast.holder.vaulted import Vaulted
from holdfast.linux.process_table import Belonging, Process, Tree, read_table
from holdfast.linux.procfs import command_of, state_word
from holdfast.model.ids import ActorId, Epoch
from holdfast.wire import company as parties
from holdfast.wire import graphs
from holdfast.wire import messages as wire


def inherited(
    vaulted: Vaulted, staged: Staged, epoch: Epoch
) -> parties.Inherited | None:
    """Return what is taken over, or None if there is nothing."""
    jobs = _jobs(vaulted)
    if staged.is_empty and not jobs:
        return None
    return parties.Inherited(
        epoch,
        staged.data[: wire.MAX_EXCERPT],
        staged.by[: parties.MAX_STAGERS],
        tuple(_told(one) for one in jobs[: parties.MAX_JOBS]),
    )


def _jobs(vaulted: Vaulted) -> list[Process]:
    leader = vaulted.facts["pid"]
    assert isinstance(leader, int)  # noqa: S101  # we wrote it
    found = Belonging(Tree.of(leader, vaulted.session)).find(read_table())
    return [one for one in found if one.pid != leader and not one.is_dead]


def _told(process: Process) -> graphs.Process:
    return graphs.Process(
        pid=process.pid,
        parent=max(process.parent, 0),
        started_ticks=process.started,
        command=wire.fitting(command_of(process.pid), graphs.MAX_COMMAND),
        state=state_word(process.state),
        actor=ActorId(""),
        rss=0,
        cpu_ms=0,
        age_ms=0,
        unlisted=0,
    )
