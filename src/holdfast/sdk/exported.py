"""Names from lower packages that the SDK exports.

The MCP server imports from `holdfast.sdk` and `holdfast.model` alone (pyproject.toml):
what an agent can do is what any caller of the SDK can do.
"""

from holdfast.client import hosts
from holdfast.client.key_names import bytes_of
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.capsule.preview_text import told as preview_lines
from holdfast.linux.stored import operators
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.term.plain import plain
from holdfast.term.plain_stream import last_states
from holdfast.term.printed import Found, hidden_in_output
from holdfast.wire.blame import Behind, BlameReport
from holdfast.wire.checkpoints import Checkpointed
from holdfast.wire.graphs import Graph
from holdfast.wire.intents import MAX_EFFECT, MAX_INTENT
from holdfast.wire.messages import ClientKind, Pending, Preview
from holdfast.wire.preflights import Cut, Preflight
from holdfast.wire.presence import Present

__all__ = [
    "MAX_EFFECT",
    "MAX_INTENT",
    "Behind",
    "BlameReport",
    "Checkpointed",
    "ClientKind",
    "Cut",
    "Entry",
    "EntryKind",
    "Found",
    "Graph",
    "Pending",
    "Preflight",
    "Present",
    "Preview",
    "bytes_of",
    "hidden_in_output",
    "hosts_elsewhere",
    "last_states",
    "operator_name",
    "plain",
    "preview_lines",
]


def hosts_elsewhere() -> list[str]:
    """Return the names of the hosts that we have joined. It reads files."""
    return [one.name for one in hosts.known()]


def operator_name(actor: ActorId) -> str:
    """Return what an operator is called on this machine; empty if it is not known."""
    try:
        known = operators.by_actor(actor)
    except (OSError, HoldfastError):
        known = None
    return "" if known is None else known.actor.name
