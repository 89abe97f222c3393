"""What the SDK hands out that is defined below it, for what is built on it.

The MCP server imports from `holdfast.sdk` and `holdfast.model` alone (pyproject.toml):
what an agent can do is what any caller of the SDK can do.
"""

from holdfast.client import hosts
from holdfast.client.key_names import bytes_of
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.linux.stored import operators
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.term.plain import plain
from holdfast.term.plain_stream import last_states
from holdfast.term.printed import Found, hidden_in_output
from holdfast.wire.blame import Behind, BlameReport
from holdfast.wire.company import Present
from holdfast.wire.graphs import Graph
from holdfast.wire.intents import MAX_EFFECT, MAX_INTENT
from holdfast.wire.messages import ClientKind, Pending

__all__ = [
    "MAX_EFFECT",
    "MAX_INTENT",
    "Behind",
    "BlameReport",
    "ClientKind",
    "Entry",
    "EntryKind",
    "Found",
    "Graph",
    "Pending",
    "Present",
    "bytes_of",
    "hidden_in_output",
    "hosts_elsewhere",
    "last_states",
    "operator_name",
    "plain",
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
