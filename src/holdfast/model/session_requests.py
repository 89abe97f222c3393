"""What is asked of a keeper or a host about sessions, and the answers: typed.

A request is a JSON object whose `do` names its kind. As in session_record: what is
unknown is ignored, what is missing has its default, and a value of another type is
refused. Standard library only, for the keeper.
"""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.model.ids import FIRST_INCARNATION
from holdfast.model.limits import Limits
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
    """Those, each with its current state and why it needs attention."""


class Creation(NamedTuple):
    """A request for a new session."""

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

    movable: bool = False
    """Of a capsule: whether another host may go on with it, by a relay's leave."""

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

    image: int = 0
    """Of a next life: which image of the session it goes on from; 0: it begins anew."""

    open_files: str = ""
    """Of a restored life: what becomes of open files that have changed since, put-back
    or as-is; empty: then it does not begin."""

    files: str = ""
    """Of a capsule: `own` keeps what it changes in layers of its own."""

    branches: str = ""
    """Of a branch: the image that it goes on from, SESSION.NUMBER."""

    takes: str = ""
    """Of a next life: the image of a branch that it goes on from, SESSION.NUMBER."""

    incarnation: int = 0
    """Of a next life: which its relay has granted; 0 if it was not asked."""

    expires_ms: int = 0
    """Until when it may speak by that, by CLOCK_BOOTTIME."""

    origin: str = ""
    """Of a life that was moved here: the host that it comes from."""

    trial: bool = False
    """Of a branch: whether something is only tried out in it."""

    memory: int = 0
    """Of a capsule: bytes that it may have in memory; 0 leaves it to the holder, here
    and below."""

    millicpus: int = 0
    """Of a capsule: thousandths of a processor that it may use."""

    pids: int = 0
    """Of a capsule: processes that it may have."""

    @property
    def limits(self) -> Limits:
        """How much of the machine it is to use at most."""
        return Limits(self.memory, self.millicpus, self.pids)


class Recover(NamedTuple):
    """The next life of a session that is lost, with what was recorded of it."""

    recovers: str = ""
    """Its id."""

    name: str | None = None
    """Another name for it."""

    env: dict[str, str] | None = None
    """Its environment, if none was kept."""

    image: int = 0
    """Which image of it is restored; 0 if its command is started again."""

    takes: str = ""
    """Which image of a branch of it is restored instead, SESSION.NUMBER."""

    creator: str = ""
    client: str | None = None
    asked_ms: int = 0
    proof: str = ""
    open_files: str = ""
    """Of an image: what becomes of open files that have changed, put-back or as-is."""

    incarnation: int = 0
    """Which life its relay has granted us for it; 0 if it was not asked."""

    expires_ms: int = 0
    """Until when it may speak by that, by CLOCK_BOOTTIME of this machine."""

    origin: str = ""
    """The host that it was moved from, in good order; empty if it was not."""


class ClaimLease(NamedTuple):
    """The next life of a movable session, from its relay, for the host of here."""

    id: str = ""
    relay: str = ""
    seen: int = 0
    """The last life that is known of."""

    dead: int = 0
    """Which life of it ended here, so that nobody speaks for it; 0 if none did."""

    was: int = 0
    """Which life was granted to us before and has not begun; 0 if none was."""


class PassLease(NamedTuple):
    """Which hosts may claim a movable session after the host of here."""

    id: str = ""
    relay: str = ""
    life: int = 0
    heirs: tuple[str, ...] = ()
    release: bool = False
    """Whether nobody speaks for it here any more, so that they may at once."""


class OfferMove(NamedTuple):
    """What a host needs to go on with a session of the asker's; nothing is done."""

    id: str = ""
    name: str = ""
    life: int = 0
    relay: str = ""
    machine: dict[str, object] | None = None
    """Where it runs: architecture, processor and CRIU."""

    rootless: bool = False
    paths: tuple[str, ...] = ()
    """Folders and files that have to be there."""

    size: int = 0
    """Bytes that it will take, as far as that is known."""

    command: tuple[str, ...] = ()
    """What it runs, by which the policy of the host is asked."""

    cwd: str = ""
    first_name: str = ""
    """What its creator called it, by which rules know it."""

    exec_gate: bool = False
    """Whether every exec in it is judged."""


class SendParcel(NamedTuple):
    """The image and the logbook of a session that is moved; their bytes follow.

    The answer says from which byte on: what has come before is not sent again.
    """

    id: str = ""
    image: int = 0
    papers: int = 0
    """Bytes of what comes first: who is known to the session, and its secrets."""

    manifest: int = 0
    book: tuple[int, ...] = ()
    """Bytes of each part of its logbook, which come last."""

    copy: bool = False
    """Whether it is a copy, kept in case the host that brings it dies."""


class CommitMove(NamedTuple):
    """The next life of a session that was brought: claimed, and begun."""

    id: str = ""
    image: int = 0


class DropMove(NamedTuple):
    """The removal of what was brought: the session goes on where it was."""

    id: str = ""
    image: int = 0


class RestoreCopy(NamedTuple):
    """The next life of a session from a copy that the host keeps."""

    wanted: str = ""
    """SESSION.NUMBER, or the session by its id or name."""

    name: str = ""
    """Another name for it."""

    open_files: str = ""
    """What becomes of open files that have changed, put-back or as-is."""


class ListImages(NamedTuple):
    """The images that the asker may know of: of one session, or of all."""

    id: str = ""


class RemoveImage(NamedTuple):
    """The removal of an image."""

    id: str = ""
    """Its session's."""

    number: int = 0


class Rename(NamedTuple):
    """Another name for a session."""

    id: str = ""
    name: str = ""
    asker: str = ""
    asked_ms: int = 0
    proof: str = ""


class Keep(NamedTuple):
    """Whether a session is never reaped, and stays listed after it has ended."""

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


class ReapStandings(NamedTuple):
    """How sessions stand with the reaper of this machine's host."""

    look: bool = False
    """Whether it is to look at them now."""


class DrainHost(NamedTuple):
    """How sessions leave this machine, which goes down."""

    seconds: float = 0.0
    """Within how many seconds they are to leave from now on; 0: it is only asked."""

    to: str = ""
    """The host that those go to which can move; empty: all go to disk."""

    only_moves: bool = False
    """Whether what cannot move there runs on, instead of going to disk."""


class End(NamedTuple):
    """The end of the host of this machine."""


class Replace(NamedTuple):
    """Other code for the host of this machine."""

    python: str = ""
    root: str = ""


ProvenChange = Rename | Keep | Forget
"""Requests about a session that need proof of the operator's identity."""

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
    | (ListImages | RemoveImage)
    | (FindNames | Rotate | OpenSession | Join | Terms)
    | (Down | Upgrade | Look | ReapStandings | DrainHost | End | Replace)
    | (ClaimLease | PassLease | OfferMove | SendParcel | CommitMove | DropMove)
    | RestoreCopy
)

KINDS: dict[str, type[Request]] = {
    "status": Status,
    "list": ListSessions,
    "overview": Overview,
    "create": Creation,
    "recover": Recover,
    "images": ListImages,
    "remove_image": RemoveImage,
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
    "reaping": ReapStandings,
    "drain": DrainHost,
    "end": End,
    "replace": Replace,
    "claim": ClaimLease,
    "pass": PassLease,
    "offer": OfferMove,
    "parcel": SendParcel,
    "commit": CommitMove,
    "drop_move": DropMove,
    "restore_copy": RestoreCopy,
}
"""The word for each kind of request."""

_WORDS = {kind: word for word, kind in KINDS.items()}

REPEATABLE = (
    Status,
    ListSessions,
    ListImages,
    Overview,
    Rename,
    Keep,
    Forget,
    ReadLog,
    FindNames,
)
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
    no_capsule: str = ""
    """Why it is plain, if it was to be a capsule and none could be made."""

    memory: int = 0
    millicpus: int = 0
    pids: int = 0

    @property
    def limits(self) -> Limits:
        """How much of the machine it may use."""
        return Limits(self.memory, self.millicpus, self.pids)


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
    met: dict[str, int] | None = None
    fenced: str | None = None
    imaged_ms: int | None = None


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
