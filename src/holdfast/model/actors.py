"""Actors: who acts in a session.

An actor is identified by a public key and nothing else. Its name is for people
to read and is never identity; a name is always shown with the fingerprint.
"""

import enum
from dataclasses import dataclass

from holdfast.model.actor_text import fingerprint_of, shown_actor
from holdfast.model.ids import ActorId

_COMPARED = 16
_GROUP = 4


class ActorKind(enum.StrEnum):
    """What sort of operator it is. Mechanics are the same for all; rights differ."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Actor:
    """A human, an agent, a service or a device that can attach to a session."""

    id: ActorId
    kind: ActorKind
    name: str

    def fingerprint(self) -> str:
        """Return the short form of the key that is always shown beside the name."""
        return fingerprint_of(self.id)

    def compared(self) -> str:
        """Return as much of the id as two people need to mean the same key.

        It is what `crypto.fingerprints` calls short: 80 bits. The eight letters that
        stand beside a name can be had for another key by making enough keys.
        """
        letters = self.id[2 : 2 + _COMPARED]
        starts = range(0, len(letters), _GROUP)
        return "-".join(letters[start : start + _GROUP] for start in starts)

    def shown(self) -> str:
        """Return how the actor is shown to people, safe to print anywhere."""
        return shown_actor(self.id, self.kind, self.name)
