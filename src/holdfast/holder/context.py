"""What all parts of one session's holder share."""

from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.output.attention import AttentionCalls
from holdfast.holder.poll import Poll
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.record.tally import SessionTally
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.model.geometry import Size


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The session's descriptors, its clients, its shell, and what wakes us."""

    descriptors: SessionDescriptors
    clients: AttachedClients
    shell: ShellCommands
    poll: Poll
    timers: Timers
    attention: AttentionCalls
    """Whether the session calls for attention."""

    resized: Callable[[Size], None]
    """Told of another size of the terminal."""

    changed: Callable[[], None]
    """Called when the session begins, stands still or goes on."""

    tally: SessionTally = field(default_factory=SessionTally)
    """Counts what happens."""
