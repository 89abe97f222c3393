"""Which way leads to a host: straight to its sockets, or through a channel?

The one place that knows. Both ways lead to streams of bytes with a session's holder
at the other end, and to answers of the host's keeper.
"""

import asyncio
import base64
import contextlib
import socket
from typing import TYPE_CHECKING, NamedTuple, Protocol

from holdfast.client import hosts, keeper
from holdfast.client.current_operator import acting_as, pen_of
from holdfast.client.profile import our_name
from holdfast.client.proven_requests import change_proven, proven
from holdfast.client.session_location import FARTHER
from holdfast.core.book.logbook import Entry, anchor_of, recover
from holdfast.core.client.holder_link import VOUCHED_FOR
from holdfast.core.client.signing import Pen
from holdfast.crypto.proof import local_proof
from holdfast.linux.packets import is_ours
from holdfast.linux.stored import folders, session_names
from holdfast.linux.stored.book_pieces import piece_of
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import (
    HostUnreachable,
    LinkEnded,
    MalformedMessage,
    SessionUnreachable,
)
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import checked_name, same_name
from holdfast.wire.messages import ClientKind

if TYPE_CHECKING:
    from holdfast.client.channels import Channels

READ = 256 * 1024
"""Bytes taken from a socket at once: four full frames of output."""

_STEP = 0.01


class Stream(Protocol):
    """An ordered stream of bytes in both directions."""

    async def send(self, data: bytes) -> None:
        """Send all of `data`, waiting while the peer is slow."""
        ...

    async def receive(self) -> bytes:
        """Return the next bytes; b"" once the peer is done. Cancelling is safe."""
        ...

    async def close(self) -> None:
        """Hang up. Safe to call twice."""
        ...


class Way(Protocol):
    """How a host is reached, and as whom."""

    name: str
    us: ActorId
    is_personal: bool
    """Whether a session there is given all variables that are set here."""

    slowness: float
    """So many times longer everything takes than on this machine."""

    program: ClientKind
    """What sort of program we say we are; others see it."""

    async def dial(self, session: SessionId) -> Stream:
        """Return a stream that leads to a session's holder.

        Raises:
            Unavailable: None answers now.
            Forbidden: The host does not let us in.

        """
        ...

    def proof(self, session: SessionId, nonce: bytes) -> bytes:
        """Return what proves to a holder who we are."""
        ...

    async def pen(self) -> Pen | None:
        """Return what we sign our inputs with; None if our key is not here."""
        ...

    def is_called(self, session: SessionId, name: str) -> bool:
        """Tell whether a session that lives has this name; False if nobody knows."""
        ...

    async def ask(self, do: str, fields: dict[str, object]) -> keeper.Facts:
        """Ask the host's keeper, and return its answer.

        Raises:
            HoldfastError: It refused, and why.
            Unavailable: It does not answer.

        """
        ...

    async def close(self) -> None:
        """Hang up on whatever is kept open."""
        ...


class Near:
    """The machine we are on: its sockets are ours."""

    def __init__(self, us: Enrolled) -> None:
        self.name = ""
        self.us = us.actor.id
        self.is_personal = us.actor.kind is ActorKind.HUMAN
        self.slowness = 1.0
        self.program = ClientKind.SDK
        self._operator = us
        self._pen = _Pen(us, self.us)

    async def dial(self, session: SessionId) -> Stream:
        """Connect to a holder's socket; one that was just replaced is waited for."""
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.setblocking(False)  # noqa: FBT003  # the name of the call says it
        try:
            loop = asyncio.get_running_loop()
            await loop.sock_connect(link, folders.session_address(session))
            _demand_ours(session, link)
            reader, writer = await asyncio.open_unix_connection(sock=link, limit=READ)
        except OSError as error:
            link.close()
            why = error.strerror or "no answer"
            raise SessionUnreachable(session, why) from error
        except BaseException:
            link.close()
            raise
        return _Socket(session, reader, writer)

    def proof(self, session: SessionId, nonce: bytes) -> bytes:
        """Prove it with the token that only this user can read."""
        return local_proof(self._operator.token(), session, nonce)

    async def pen(self) -> Pen | None:
        """Return our key of this machine."""
        return await self._pen.loaded()

    def is_called(self, session: SessionId, name: str) -> bool:
        """Look at the name that its holder keeps beside its socket."""
        return same_name(session_names.name_of(session), name)

    async def ask(self, do: str, fields: dict[str, object]) -> keeper.Facts:
        """Ask the keeper in a thread: it blocks, for a moment or until one starts."""
        if do == "create":
            fields = proven(fields, self.us, self._operator.token())
        if do in keeper.PROVEN:
            fields = change_proven(fields, do, self.us, self._operator.token())
        if do == "log":
            return await asyncio.to_thread(_log_piece, fields)
        return await asyncio.to_thread(keeper.request, do, fields)

    async def close(self) -> None:
        """Do nothing: no link to the keeper is kept."""


class Far:
    """A host elsewhere, by way of its relays."""

    def __init__(
        self, known: hosts.KnownHost, us: Enrolled, tasks: asyncio.TaskGroup
    ) -> None:
        self.name = known.name
        self.us = known.actor_of(us.actor.id)
        self.is_personal = False
        self.slowness = FARTHER
        self.program = ClientKind.SDK
        # What goes far is slow to load, and most do not.
        from holdfast.client.channels import Channels  # noqa: PLC0415
        from holdfast.crypto.identity import Identity  # noqa: PLC0415

        self._channels = Channels(known, Identity.from_seed(us.seed()), tasks)
        self._pen = _Pen(us, self.us)

    async def dial(self, session: SessionId) -> Stream:
        """Open a channel to the holder."""
        try:
            link = await self._channels.open(session)
        except (HostUnreachable, LinkEnded) as error:
            raise SessionUnreachable(session, str(error)) from error
        return _Channel(session, link, self._channels)

    def proof(self, session: SessionId, nonce: bytes) -> bytes:
        """Leave it to the host, to which the channel has proven our key."""
        del session, nonce
        return VOUCHED_FOR

    async def pen(self) -> Pen | None:
        """Return our key, which is also what the channel has proven."""
        return await self._pen.loaded()

    def is_called(self, session: SessionId, name: str) -> bool:
        """Leave it open: only its host knows."""
        del session, name
        return False

    async def ask(self, do: str, fields: dict[str, object]) -> keeper.Facts:
        """Ask the host, which asks its keeper."""
        try:
            return await self._channels.ask(do, fields)
        except LinkEnded as error:
            raise HostUnreachable(self.name, str(error)) from error

    async def close(self) -> None:
        """Hang up on the channel that is kept for questions."""
        await self._channels.close()


class _Pen:
    """What we sign with, loaded when it is first needed: that takes a moment."""

    def __init__(self, us: Enrolled, actor: ActorId) -> None:
        self._us = us
        self._actor = actor
        self._pen: Pen | None = None
        self._is_loaded = False

    async def loaded(self) -> Pen | None:
        if not self._is_loaded:
            self._pen = await asyncio.to_thread(pen_of, self._us, self._actor)
            self._is_loaded = True
        return self._pen


async def way_to(host: str, operator: str, tasks: asyncio.TaskGroup) -> Way:
    """Return the way to a host, or to this machine if it has no name.

    Raises:
        UsageError: There is no such host, or a name is none.

    """

    def find() -> Way:
        us = acting_as(checked_name(operator) if operator else our_name())
        return Far(hosts.by_name(host), us, tasks) if host else Near(us)

    # A new operator's key is made and written down, which takes a moment.
    return await asyncio.to_thread(find)


async def sessions_of(way: Way) -> list[SessionRecord]:
    """Return every session that we may see, oldest first.

    Raises:
        Unavailable: There is no keeper, or the host cannot be reached.
        PeerError: The answer is no list of sessions.

    """
    return keeper.sessions_in(await way.ask("list", {}), way.name)


class Wanted(NamedTuple):
    """Which entries: from an index on, or the last so many; and how many at most."""

    since: int = 0
    last: int | None = None
    most: int | None = None


async def log_of(way: Way, session: SessionId, wanted: Wanted) -> list[Entry]:
    """Return entries of a logbook, each checked against the one before.

    Little before them and after them is read.

    Raises:
        PeerError: The book was changed.
        UsageError: There is none.

    """
    first, last, most = wanted
    asked = {"index": first} if last is None else {"last": last}
    raw = bytearray()
    answer = await way.ask("log", {"id": session, **asked})
    # A host of older code sends the book from its beginning, and does not say so.
    start = answer.get("from")
    limit = most if isinstance(start, int) else None
    while piece := _piece(answer):
        raw += piece
        if limit is not None and raw.count(b"\n") > limit:
            break
        offset = (start if isinstance(start, int) else 0) + len(raw)
        answer = await way.ask("log", {"id": session, "from": offset})
    # What is being written, or was when its holder died, is no entry.
    after = anchor_of(bytes(raw.split(b"\n", 1)[0]), session)
    found = recover(bytes(raw), session, after).entries
    if last is not None:
        return [*found[-last:]]
    return [one for one in found if one.index >= first][:most]


class _Socket:
    """A holder's own socket."""

    def __init__(
        self,
        session: SessionId,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._session = session
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            why = error.strerror or "it does not read"
            raise SessionUnreachable(self._session, why) from error

    async def receive(self) -> bytes:
        try:
            return await self._reader.read(READ)
        except OSError as error:
            why = error.strerror or "it hung up"
            raise SessionUnreachable(self._session, why) from error

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


class _Channel:
    """A channel, at the other end of which the host has put a holder's socket."""

    def __init__(
        self, session: SessionId, link: "Stream", channels: "Channels"
    ) -> None:
        self._session = session
        self._link = link
        self._channels = channels

    async def send(self, data: bytes) -> None:
        try:
            await self._link.send(data)
        except LinkEnded as error:
            raise SessionUnreachable(self._session, str(error)) from error

    async def receive(self) -> bytes:
        try:
            return await self._link.receive()
        except LinkEnded as error:
            self._channels.ended(error)
            raise SessionUnreachable(self._session, str(error)) from error

    async def close(self) -> None:
        await self._link.close()


def _demand_ours(session: SessionId, link: socket.socket) -> None:
    if not is_ours(link):
        raise SessionUnreachable(session, "its socket belongs to somebody else")


def _log_piece(fields: dict[str, object]) -> keeper.Facts:
    """Answer what a host elsewhere would: a piece of a logbook of this machine."""
    return piece_of(SessionId(str(fields["id"])), fields, READ)


def _piece(answer: keeper.Facts) -> bytes:
    data = answer.get("data")
    try:
        return base64.b64decode(data if isinstance(data, str) else "!", validate=True)
    except ValueError:
        raise MalformedMessage("piece of a logbook", "it is none") from None
