"""The way to a host: straight to its sockets, or through a channel.

The one place that knows. Both ways lead to streams of bytes with a session's holder
at the other end, and to answers of the host's keeper.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Protocol

from holdfast.aio.holder_link import READ, SocketStream, Stream, connect
from holdfast.client import hosts, keeper
from holdfast.client.current_operator import acting_as, pen_of
from holdfast.client.profile import our_name
from holdfast.client.proven_requests import change_proven, proven
from holdfast.client.session_location import FARTHER
from holdfast.core.client.holder_link import VOUCHED_FOR, Credentials
from holdfast.core.client.signing import Pen
from holdfast.crypto.proof import local_proof
from holdfast.linux.packets import is_ours
from holdfast.linux.stored import folders, session_names
from holdfast.linux.stored.book_pieces import piece_of
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HostUnreachable, LinkEnded, SessionUnreachable
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import (
    Creation,
    ProvenChange,
    ReadLog,
    Request,
    facts_of,
)
from holdfast.model.text import checked_name, same_name
from holdfast.wire.messages import ClientKind

if TYPE_CHECKING:
    from holdfast.client.channels import Channels


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

    def credentials(self, session: SessionId) -> Credentials:
        """Return who we are to a holder, and what proves it."""
        ...

    async def pen(self) -> Pen | None:
        """Return what we sign our inputs with; None if our key is not here."""
        ...

    def is_called(self, session: SessionId, name: str) -> bool:
        """Tell whether a session that lives has this name; False if nobody knows."""
        ...

    async def ask(self, asked: Request) -> Facts:
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
        """Connect to a holder's socket."""
        address = folders.session_address(session)
        link = await connect(session, address, is_ours)
        return await SocketStream.over(session, link)

    def credentials(self, session: SessionId) -> Credentials:
        """Prove it with the token that only this user can read."""
        prove = partial(local_proof, self._operator.token(), session)
        return Credentials(self.us, self.program, prove)

    async def pen(self) -> Pen | None:
        """Return our key of this machine."""
        return await self._pen.loaded()

    def is_called(self, session: SessionId, name: str) -> bool:
        """Look at the name that its holder keeps beside its socket."""
        return same_name(session_names.name_of(session), name)

    async def ask(self, asked: Request) -> Facts:
        """Ask the keeper in a thread: it blocks, for a moment or until one starts."""
        if isinstance(asked, Creation):
            asked = proven(asked, self.us, self._operator.token())
        if isinstance(asked, ProvenChange):
            asked = change_proven(asked, self.us, self._operator.token())
        if isinstance(asked, ReadLog):  # The book is here; a host would read it too.
            return facts_of(await asyncio.to_thread(piece_of, asked, READ))
        return await asyncio.to_thread(keeper.request, asked)

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

    def credentials(self, session: SessionId) -> Credentials:
        """Leave the proof to the host, to which the channel has proven our key."""
        del session
        return Credentials(self.us, self.program, lambda _: VOUCHED_FOR)

    async def pen(self) -> Pen | None:
        """Return our key, which is also what the channel has proven."""
        return await self._pen.loaded()

    def is_called(self, session: SessionId, name: str) -> bool:
        """Leave it open: only its host knows."""
        del session, name
        return False

    async def ask(self, asked: Request) -> Facts:
        """Ask the host, which asks its keeper."""
        try:
            return await self._channels.ask(asked)
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
