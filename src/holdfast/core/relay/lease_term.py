"""Until when a session's holder may let it speak.

The host has the lease (core/relay/lease.py); the holder of the session has this much
of it, and enforces it without the host. It is read from the clock at every question
(docs/spec/leases.md, 4.1 and 4.5).

I1  A term that has run out stays so until the host names a later one.
I2  A word of an earlier or later life changes nothing.
I3  What another life has taken over is silent for good.
"""

from typing import Protocol

from holdfast.model.ids import Incarnation

BIRTH = 15.0
"""Seconds that a life may speak before the relay has heard of it: nobody else can
have been given it, and the first grant takes a second at most."""

EXPIRED = "its lease ran out"


class Term(Protocol):
    """Whether a session may speak."""

    def may_speak(self, now: float) -> bool:
        """Tell whether input may be accepted and output sent at this moment."""
        ...


class LeaseTerm:
    """The expiry that the holder of one life of a session goes by."""

    def __init__(self, incarnation: Incarnation, expires_at: float) -> None:
        self._incarnation = incarnation
        self.expires_at = expires_at
        """When it runs out, by a clock that runs through suspend."""

        self.why = EXPIRED
        """Why the session is fenced once it has run out, for people."""

        self.successor = 0
        """The life that has taken its place; 0 as long as none is known of."""

    def may_speak(self, now: float) -> bool:
        """Tell whether input may be accepted and output sent at this moment."""
        return now < self.expires_at

    def told(
        self, incarnation: int, expires_at: float, why: str = "", successor: int = 0
    ) -> bool:
        """Take the host's word; False if it says nothing about this life."""
        if incarnation != self._incarnation or self.successor:
            return False
        self.why = why or EXPIRED
        self.successor = successor
        self.expires_at = 0.0 if successor else expires_at
        return True
