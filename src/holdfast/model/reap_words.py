"""What a host and a keeper say to each other about sessions nobody uses: typed.

Standard library only, for the keeper.
"""

from typing import NamedTuple

DRAIN = "drain"
"""The reason of a session that stays on a machine which goes down."""


class ReapWord(NamedTuple):
    """When a session is going to be reaped, as its host knows it."""

    id: str = ""
    reaps_ms: int = 0
    """Milliseconds since 1970; 0 if it is not going to be."""

    why: str = ""
    """The reason: idle-window, population-cap, memory-cap or drain."""
