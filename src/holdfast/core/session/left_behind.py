"""What a holder leaves behind when its session dozes, for the holder that is woken.

All of it is known to a holder alone: it is in no logbook, or not exactly. A holder that
dies takes it along, and its successor does without (docs/spec/keeper.md, 13.3). What
dozes has time to write it down.

It is one MessagePack object. Versions differ: what cannot be read counts as not left,
and the session goes on as after a death.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from holdfast.core.session.doze import Nap
from holdfast.core.session.paint_requests import Past
from holdfast.core.shell.shell_state import ShellState
from holdfast.model.errors import HoldfastError, MalformedMessage

FORMAT: Literal[2] = 2
"""Raised when an older reader would misunderstand it."""


@dataclass(frozen=True, slots=True)
class Shell:
    """What the shell had said of itself."""

    told: int
    """The number of its last message that belongs to a prompt; 0 if none does."""

    begun: bytes
    """Bytes of its pipe that may be the beginning of a message."""

    state: ShellState | None


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """All that is left."""

    nap: Nap
    is_staged: bool
    """Whether there is unsubmitted input, or may be."""

    painting: Past
    shell: Shell | None = None
    """None if the shell says nothing of itself."""

    def to_bytes(self) -> bytes:
        """Return it as it is written down."""
        return msgspec.msgpack.encode((FORMAT, self))


_DECODER = msgspec.msgpack.Decoder(tuple[Literal[2], LeftBehind])


def read_left(raw: bytes) -> LeftBehind:
    """Read what `to_bytes` wrote.

    Raises:
        PeerError: It is damaged, or of another version.

    """
    try:
        return _DECODER.decode(raw)[1]
    except (msgspec.MsgspecError, ValueError, RecursionError, HoldfastError) as error:
        raise MalformedMessage("what was left behind", str(error)) from None
