"""The state of the shell in an image, which a restored shell cannot report."""

from collections.abc import Iterable

from holdfast.core.provenance.lineage import ProcessStart
from holdfast.holder.provenance.process_starters import NOBODY, ProcessStarters
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.packets import Packet


def told_of(
    descriptors: SessionDescriptors,
    shell: ShellCommands,
    processes: Iterable[ProcessStart],
) -> Packet:
    """Return where the shell is, what stands typed, and who started what."""
    starters = ProcessStarters(descriptors, shell).actors(processes)
    actors = sorted({*starters.values()} - {NOBODY})
    return {
        "phase": shell.phase,
        "command": 0 if shell.last is None else shell.last.number,
        "hands": list(shell.line.stands().by),
        "actors": list(actors),
        "starters": [
            [pid, actors.index(actor)] for pid, actor in starters.items() if actor
        ],
    }
