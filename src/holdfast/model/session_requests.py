"""What is asked of a keeper or a host about sessions, and the answers: typed.

A request is a JSON object whose `do` names its kind. As in session_record: what is
unknown is ignored, what is missing has its default, and a value of another type is
refused. Standard library only, for the keeper.
"""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.model.ids import FIRST_INCARNATION
from holdfast.model.session_record import (
    PLAIN,
    Attention,
    Cells,
    Facts,
    HeldStart,
    Kind,
    as_facts,
    key_of,
    record_of,
)


class Status(NamedTuple):
    """How the process that is asked does."""


class ListSessions(NamedTuple):
    """Every session that the asker may see."""

    look: bool = False
    """Whether holders are asked what each does now; one that dozes is not woken."""


class Overview(NamedTuple):
    """Those, with what each does now and what it needs somebody for."""


class Creation(NamedTuple):
    """A session that somebody wants."""

    name: str | None = None
    """Chosen by its holder if nobody says."""

    command: tuple[str, ...] = ()
    """Empty: the user's shell."""

    cwd: str = ""
    env: dict[str, str] | None = None
    size: Cells | None = None
    integration: bool = False
    exec_gate: bool = False
    window: int = 0
    """Bytes of output to keep; 0 leaves it to the holder."""

    runtime: str = ""
    """capsule or plain; empty leaves it to the holder."""

    net: str = ""
    """Of a capsule: `own` for a network that reaches the capsule alone."""

    ground: bool = False
    """Whether it starts with this host's environment, for any requester."""

    creator: str = ""
    client: str | None = None
    asked_ms: int = 0
    proof: str = ""
    token: str = ""
    """By which the keeper knows what was made; clients choose none."""

    id: str | None = None
    """Chosen by the keeper; an older one leaves it to the holder."""

    recover: bool = False
    """Whether this is the next life of a session that is lost; as for `token`."""


class Recover(NamedTuple):
    """The next life of a session that is lost, with what was recorded of it."""

    recovers: str = ""
    """Its id."""

    name: str | None = None
    """Another name for it."""

    env: dict[str, str] | None = None
    """Its environment, if none was kept."""

    creator: str = ""
    client: str | None = None
    asked_ms: int = 0
    proof: str = ""


class Rename(NamedTuple):
    """Another name for a session."""

    id: str = ""
    name: str = ""
    asker: str = ""
    asked_ms: int = 0
    proof: str = ""


class Keep(NamedTuple):
    """Whether a session stays listed after it has ended."""

    id: str = ""
    keep: bool | None = None
    asker: str = ""
    asked_ms: int = 0
    proof: str = ""


class Forget(NamedTuple):
    """The removal of a session's record."""

    id: str = ""
    asker: str = ""
    asked_ms: int = 0
    proof: str = ""


class ReadLog(NamedTuple):
    """A piece of a logbook: from an offset, entry or moment on, or the last entries."""

    id: str = ""
    from_: int | None = None
    index_: int | None = None
    since: int | None = None
    """Milliseconds since 1970."""

    last: int | None = None
    head: bool = False
    """Whether the signed head is wanted instead."""


class FindNames(NamedTuple):
    """What operators are called, by their ids; and who is called so."""

    actors: tuple[str, ...] = ()
    called: tuple[str, ...] = ()


class Rotate(NamedTuple):
    """Another key for the asker: the statement of both keys, in hex."""

    statement: str = ""


class OpenSession(NamedTuple):
    """The protocol of a session, instead of further packets."""

    session: str = ""


class Join(NamedTuple):
    """An operator by the invitation with which the channel was opened."""


class Terms(NamedTuple):
    """What that invitation gives, which is not used up by asking."""


class Down(NamedTuple):
    """The end of a keeper, whose sessions go on."""


class Upgrade(NamedTuple):
    """Other code for the keeper and all that it starts."""

    python: str = ""
    root: str = ""
    version: str = ""


class Look(NamedTuple):
    """A look at the folders of operators and invitations, by the host of here."""


class End(NamedTuple):
    """The end of the host of this machine."""


class Replace(NamedTuple):
    """Other code for the host of this machine."""

    python: str = ""
    root: str = ""


ProvenChange = Rename | Keep | Forget
"""What is asked about a session in somebody's name, which has to be proven."""

Request = (
    (
        Status
        | ListSessions
        | Overview
        | Creation
        | Recover
        | Rename
        | Keep
        | Forget
        | ReadLog
    )
    | (FindNames | Rotate | OpenSession | Join | Terms)
    | (Down | Upgrade | Look | End | Replace)
)

KINDS: dict[str, type[Request]] = {
    "status": Status,
    "list": ListSessions,
    "overview": Overview,
    "create": Creation,
    "recover": Recover,
    "rename": Rename,
    "keep": Keep,
    "forget": Forget,
    "log": ReadLog,
    "names": FindNames,
    "rotate": Rotate,
    "open": OpenSession,
    "join": Join,
    "terms": Terms,
    "down": Down,
    "upgrade": Upgrade,
    "look": Look,
    "end": End,
    "replace": Replace,
}
"""The word for each kind of request."""

_WORDS = {kind: word for word, kind in KINDS.items()}

REPEATABLE = (Status, ListSessions, Overview, Rename, Keep, Forget, ReadLog, FindNames)
"""What can be asked twice and means the same."""


class Created(NamedTuple):
    """The answer to a creation."""

    id: str = ""
    name: str = ""
    pid: int = 0
    state: str = ""
    start: HeldStart | None = None
    """What waits for approval, if its command has not begun."""

    no_new_privs: bool = False
    incarnation: int = FIRST_INCARNATION
    runtime: str = PLAIN


class LogPiece(NamedTuple):
    """The answer to ReadLog: bytes in base64, and how many there are in all."""

    data: str = ""
    size: int = 0
    from_: int | None = None
    """Where it begins; a host of older code does not say."""


class Change(NamedTuple):
    """What may be changed about a session; None is left as it is."""

    name: str | None = None
    keep: bool | None = None
    state: str | None = None
    size: Cells | None = None
    ended_ms: int | None = None
    attention: Attention | None = None


def packet_of(request: Request) -> Facts:
    """Return a request as JSON says it; what has its default is left out."""
    return {"do": _WORDS[type(request)], **facts_of(request)}


def facts_of(told: Request | Created | LogPiece) -> Facts:
    """Return what differs from the defaults, as JSON says it."""
    defaults = type(told)._field_defaults
    return {
        key_of(name): as_facts(value)
        for name, value in told._asdict().items()
        if value != defaults[name]
    }


def request_from(packet: Mapping[str, object]) -> Request:
    """Return what a packet asks for.

    Raises:
        PeerError: There is no such request, or something has the wrong type.

    """
    return read_packet(packet, KINDS)


def read_packet(packet: Mapping[str, object], kinds: Mapping[str, type[Kind]]) -> Kind:
    """Return what a packet says, by the kind that its `do` names.

    Raises:
        PeerError: There is no such kind, or something has the wrong type.

    """
    do = packet.get("do")
    kind = kinds.get(do) if isinstance(do, str) else None
    if kind is None:
        from holdfast.model.errors import UnexpectedMessage  # noqa: PLC0415  # slow to load

        raise UnexpectedMessage(repr(do)[:40], "asking for something")
    return record_of(kind, packet)
