"""What of a session outlives its holder: descriptors, and facts about it."""

import socket
from dataclasses import dataclass, field

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

    start: list[int] = field(default_factory=list)
    """Of a session whose command has not begun: where it is told to, and where it
    says that it has. Empty from then on."""

    @property
    def first_name(self) -> str:
        """What the session's creator called it, by which rules know it.

        Whoever renames a session must not choose the rules that hold in it.
        """
        return str(self.facts.get("first_name", self.facts["name"]))

    def fds(self) -> list[int]:
        """Return the descriptors in the order in which they are deposited."""
        plain = [self.master, self.memory, self.listener.fileno(), self.pidfd]
        return [*plain, *self.gate, *self.start]
