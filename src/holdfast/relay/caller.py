"""Where a connection comes from, and whether it is our own host's.

On loopback every user of the machine has the same address, so there the kernel is
asked which user it is. A user who opens connections without end crowds out only
themselves, and never the host that has started this relay.
"""

import os
import socket
from dataclasses import dataclass
from typing import Self

from holdfast.core.relay.unproven_connections import is_loopback, user_source
from holdfast.linux import tcp_peers


@dataclass(frozen=True, slots=True)
class Caller:
    """The other end of a connection that was just accepted."""

    address: str
    source: str
    """What it is counted by."""

    inode: int = 0
    """Its socket, if it belongs to our own user; else 0."""

    @classmethod
    def of(cls, link: socket.socket, address: str) -> Self:
        """Find out who calls."""
        peer = tcp_peers.peer_of(link) if is_loopback(address) else None
        if peer is None:
            return cls(address, address)
        inode = peer.inode if peer.uid == os.getuid() else 0
        return cls(address, user_source(peer.uid), inode)

    def is_own_host(self) -> bool:
        """Tell whether the process that started this relay made the connection.

        Slow, so it is asked only where the answer decides; and of our own user's
        connections only, so that no other user can make us look.
        """
        return self.inode != 0 and tcp_peers.has_socket(os.getppid(), self.inode)
