"""Which part of a request for a session does its creator prove, and how is it written?

The keeper passes a request on as it came. So that nobody on the way, and nobody who
talks to the keeper directly, can ask in another's name, the request carries a proof
over all that matters (crypto.proof), which whoever starts the session checks.

Standard library only: whoever starts a session is not to wait for more.
"""

import json
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

MAX_AGE_MS = 120_000
"""How long a proof is good: longer than a keeper may take to start, and to ask."""


def proven_bytes(packet: Mapping[str, object]) -> bytes:
    """Return what a proof of this request is made over."""
    chosen = {name: packet.get(name) for name in PROVEN}
    return json.dumps(chosen, sort_keys=True).encode()
