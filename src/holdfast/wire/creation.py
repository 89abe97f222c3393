"""The part of a request for a session that its creator signs.

The keeper passes a request on as it came. So that nobody on the way, and nobody who
talks to the keeper directly, can ask in another's name, the request carries a proof
over all that matters (crypto.proof), which is checked when the session is started.

Standard library only, so that starting a session does not wait for more imports.
"""

from holdfast.wire import plain_json

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Mapping

PROVEN = (
    "name",
    "command",
    "cwd",
    "env",
    "size",
    "integration",
    "exec_gate",
    "ground",
    "creator",
    "client",
    "asked_ms",
)
"""Members of a request that are proven; those it has not count as null."""

ALSO_PROVEN = (
    *("window", "runtime", "net", "files", "branches"),
    *("memory", "millicpus", "pids", "movable"),
)
"""Members that are proven if they are given. They were added later: a request without
them is proven as ever, and so to a holder of older code too."""

RECOVERY = ("recovers", "name", "env", "creator", "client", "asked_ms")
"""Members of a request for the next life of a session; no creation has the first."""

ALSO_RECOVERY = ("image", "takes", "open_files", "incarnation", "expires_ms", "origin")
"""Members that are proven if they are given, as for a creation."""

MAX_AGE_MS = 120_000
"""How long a proof is good: longer than a keeper may take to start, and to ask."""

CHANGE = ("do", "id", "name", "keep", "asker", "asked_ms")
"""Members of such a request that are proven."""

HOST = "host"
"""The asker of what the host asks for itself, or for whom its channel has proven."""


def proven_bytes(packet: "Mapping[str, object]") -> bytes:
    """Return what a proof of this request for a session is made over."""
    given = tuple(name for name in ALSO_PROVEN if packet.get(name))
    return _written(packet, PROVEN + given)


def recovery_bytes(packet: "Mapping[str, object]") -> bytes:
    """Return what a proof of this request for another life is made over."""
    given = tuple(name for name in ALSO_RECOVERY if packet.get(name))
    return _written(packet, RECOVERY + given)


def change_bytes(packet: "Mapping[str, object]") -> bytes:
    """Return what a proof of this request about a session is made over."""
    return _written(packet, CHANGE)


def _written(packet: "Mapping[str, object]", names: tuple[str, ...]) -> bytes:
    chosen = {name: packet.get(name) for name in names}
    return plain_json.dumps(chosen, sort_keys=True).encode()
