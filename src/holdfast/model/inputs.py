"""What does an operator send, by whichever route?

Every route makes the same thing: an Input. Its id is a client and a count, so
that "never twice" needs no unbounded memory (ADR 0003).
"""

import enum
import hashlib
from dataclasses import dataclass

from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation

MAX_INPUT = 64 * 1024
"""Bytes in one input: a large paste in one piece, a small part of a window."""


class InputKind(enum.StrEnum):
    """What sort of act it is; each needs the right of the same or a like name."""

    KEYS = "keys"
    COMMAND = "command"
    SIGNAL = "signal"
    RESIZE = "resize"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class InputId:
    """Which input is it? The `sequence`-th that `client` ever sent, from 1."""

    client: ClientId
    sequence: int


@dataclass(frozen=True, slots=True)
class Input:
    """One act of one operator, made under one turn of one incarnation."""

    id: InputId
    actor: ActorId
    kind: InputKind
    incarnation: Incarnation
    epoch: Epoch
    payload: bytes

    def digest(self) -> bytes:
        """Return what an approval or an outcome is bound to: kind and bytes."""
        return hashlib.sha256(self.kind.encode() + b"\0" + self.payload).digest()
