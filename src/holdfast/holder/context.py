"""What all rooms of one session share."""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.holder.links.attached_clients import Company
from holdfast.holder.output.attention import AttentionCalls
from holdfast.holder.poll import Poll
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.timers import Timers
from holdfast.model.geometry import Size


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The session's descriptors, its clients, its shell, and what wakes us."""

    vaulted: Vaulted
    company: Company
    shell: ShellCommands
    poll: Poll
    timers: Timers
    attention: AttentionCalls
    """Whether the session calls for somebody."""

    resized: Callable[[Size], None]
    """Told of another size of the terminal."""

    changed: Callable[[], None]
    """Called when the session begins, stands still or goes on."""
