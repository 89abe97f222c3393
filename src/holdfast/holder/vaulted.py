"""What of a session outlives its holder: descriptors, and facts about it."""

import socket
from dataclasses import dataclass

from holdfast.model.ids import SessionId


@dataclass(frozen=True, slots=True)
class Vaulted:
    """All that a holder needs, and that the keeper has a copy of."""

    session: SessionId
    facts: dict[str, object]
    master: int
    memory: int
    listener: socket.socket
    pidfd: int
    gate: tuple[int, ...] = ()
    """Of a session with an exec gate: its listener, and the memory for notices."""

    def fds(self) -> list[int]:
        """Return the descriptors in the order in which they are deposited."""
        plain = [self.master, self.memory, self.listener.fileno(), self.pidfd]
        return [*plain, *self.gate]
