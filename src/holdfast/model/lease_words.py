"""What a host and a keeper say to each other about leases: typed.

The host says on its link to the keeper until when each movable session may speak; the
keeper says which there are. Standard library only, for the keeper.
"""

from typing import NamedTuple


class LeaseWord(NamedTuple):
    """Until when a life of a session may speak, as its host knows it."""

    id: str = ""
    incarnation: int = 0
    expires: float = 0.0
    """By CLOCK_BOOTTIME of this machine; what is past fences it at once."""

    why: str = ""
    """Why it may not, for people."""

    successor: int = 0
    """The life that has taken its place elsewhere; 0 if none is known of."""


class Movable(NamedTuple):
    """A movable session of this machine, as its keeper knows it."""

    id: str = ""
    name: str = ""
    incarnation: int = 0
    authority: str = ""
    expires: float = 0.0
    leased: bool = False
    over: bool = False
    """Whether it has ended, so that its lease is to be given back for good."""

    gone: bool = False
    """Whether nobody holds it any more, and nothing of it runs."""
