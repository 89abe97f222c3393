"""What holders, trustees, nurseries and the host tell a keeper: typed.

As in session_requests, whose requests a keeper is asked too: `do` names the kind, what
is unknown is ignored, what is missing has its default. docs/spec/keeper.md has the
table. Standard library only, for the keeper.
"""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.model.lease_words import LeaseWord
from holdfast.model.reap_words import ReapWord
from holdfast.model.session_record import Attention, Cells, Facts
from holdfast.model.session_requests import KINDS as REQUESTS
from holdfast.model.session_requests import Request, read_packet


class Deposit(NamedTuple):
    """A session of the holder that tells it; its descriptors come beside it."""

    id: str = ""
    token: str = ""
    facts: Facts | None = None
    exit: int | None = None


class Inherit(NamedTuple):
    """A session of a keeper that is gone, from its trustee or its dozer."""

    id: str = ""
    facts: Facts | None = None
    exit: int | None = None


class Doze(NamedTuple):
    """The wish of a holder that its session dozes; what it leaves comes beside it."""

    id: str = ""
    idle_ms: int = 0
    doing: str = ""
    output_ms: int = 0
    offset: int = 0


class Seen(NamedTuple):
    """What a session does now, as its holder was asked to look."""

    id: str = ""
    doing: str = ""
    turn_of: str = ""
    attached: tuple[str, ...] = ()
    output_ms: int = 0
    operating: int = 0
    """How many clients are attached that may type."""

    offset: int = 0
    """How many bytes it has printed."""


class Failed(NamedTuple):
    """A session that could not be made, or must not be, and why."""

    token: str = ""
    kept: bool = False
    code: str = ""
    text: str = ""
    facts: Facts | None = None


class Proof(NamedTuple):
    """The word of a holder that it works."""

    id: str = ""


class Said(NamedTuple):
    """Whether an operator may do what the holder was asked about, or why not."""

    ticket: int = 0
    ok: bool = False
    code: str = ""
    text: str = ""
    facts: Facts | None = None


class Changed(NamedTuple):
    """What has changed about the session of the holder that tells it."""

    id: str = ""
    name: str | None = None
    keep: bool | None = None
    state: str | None = None
    size: Cells | None = None
    ended_ms: int | None = None
    attention: Attention | None = None
    fenced: str | None = None
    exit: int | None = None
    met: dict[str, int] | None = None
    imaged_ms: int | None = None


class Unbegun(NamedTuple):
    """A session whose next life was refused: nobody is to hold it."""

    id: str = ""


class Port(NamedTuple):
    """The wish of a holder for a porter; its end of their link comes beside it."""

    id: str = ""


class GaveUp(NamedTuple):
    """A holder that could not be made, or died at once."""

    id: str = ""
    why: str = ""


class HostIsThere(NamedTuple):
    """The host of this machine, and how it runs."""

    runs: str = ""


class Warned(NamedTuple):
    """The host's word about sessions that it is going to reap, or not any more."""

    sessions: tuple[ReapWord, ...] = ()


class Leases(NamedTuple):
    """The host's word about leases."""

    leases: tuple[LeaseWord, ...] = ()


KeeperMessage = (
    Deposit
    | Inherit
    | Doze
    | Seen
    | Failed
    | Proof
    | Said
    | Changed
    | Unbegun
    | Port
    | GaveUp
    | HostIsThere
    | Leases
    | Warned
) | Request

KINDS: dict[str, type[KeeperMessage]] = {
    **REQUESTS,
    "deposit": Deposit,
    "inherit": Inherit,
    "doze": Doze,
    "seen": Seen,
    "failed": Failed,
    "proof": Proof,
    "said": Said,
    "facts": Changed,
    "unbegun": Unbegun,
    "port": Port,
    "gave-up": GaveUp,
    "host": HostIsThere,
    "leases": Leases,
    "warned": Warned,
}
"""The word for each kind of message."""


def message_from(packet: Mapping[str, object]) -> KeeperMessage:
    """Return what a packet tells or asks a keeper.

    Raises:
        PeerError: There is no such message, or something has the wrong type.

    """
    return read_packet(packet, KINDS)
