"""The transport below a sealed channel.

One link that keeps messages apart and in order: in practice a WebSocket spliced
by a relay. It may be read, changed and cut by anyone who runs the relay; the
channel on top of it notices, and the carrier need not.
"""

from typing import Protocol

MAX_MESSAGE = 65_535
"""Bytes of one message, as Noise has it; a carrier MUST NOT take a longer one."""


class Carrier(Protocol):
    """One message-preserving link to a peer that is not yet known."""

    async def send(self, message: bytes) -> None:
        """Send one message, waiting while the peer is slow.

        Raises:
            Unavailable: The link has ended.

        """
        ...

    async def receive(self) -> bytes:
        """Return the next message, whole. Cancelling is safe: none is lost.

        Raises:
            Unavailable: The link has ended (`LinkEnded`, with the code given by
                the side that ended it, if any).

        """
        ...

    async def close(self, code: str = "") -> None:
        """End the link, saying why by the code of an error. Safe to call twice."""
        ...
