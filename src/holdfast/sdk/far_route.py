"""The route to a remote host, through a channel over its relays."""

import asyncio
from functools import cache, partial
from typing import TYPE_CHECKING

from holdfast.aio.holder_link import Stream
from holdfast.client.channels import Channels
from holdfast.client.current_operator import pen_of
from holdfast.client.host_link import HostLink
from holdfast.client.hosts import KnownHost
from holdfast.client.session_location import FARTHER
from holdfast.core.client.early_link import VOUCHED_FOR
from holdfast.core.client.holder_link import Credentials
from holdfast.core.client.signing import Pen
from holdfast.crypto.identity import Identity
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.errors import HostUnreachable, LinkEnded, SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Request
from holdfast.wire.messages import ClientKind

if TYPE_CHECKING:
    from holdfast.sdk.moved_routes import MovedRoutes


class Far:
    """A host elsewhere, by way of its relays."""

    def __init__(
        self, known: KnownHost, us: Enrolled, tasks: asyncio.TaskGroup
    ) -> None:
        self.name = known.name
        self.us = known.actor_of(us.actor.id)
        self.is_personal = False
        self.slowness = FARTHER
        self.program = ClientKind.SDK
        self.moved: MovedRoutes | None = None
        """Where sessions went that were there; None: nothing is followed."""

        self._known = known
        self._channels = Channels(known, Identity.from_seed(us.seed()), tasks)
        self._pen = cache(partial(pen_of, us, self.us))

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
        return Credentials(self.us, self.program, _vouched)

    async def pen(self) -> Pen | None:
        """Return our key, which is also what the channel has proven."""
        return await asyncio.to_thread(self._pen)

    def host_key(self) -> bytes:
        """Return its key, with which it says where sessions went."""
        return self._known.public_key

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


class _Channel:
    """A channel, at the other end of which the host has put a holder's socket."""

    def __init__(self, session: SessionId, link: HostLink, channels: Channels) -> None:
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


def _vouched(nonce: bytes) -> bytes:
    del nonce
    return VOUCHED_FOR
