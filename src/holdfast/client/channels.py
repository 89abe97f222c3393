"""Channels to one remote host: for requests, and for its sessions.

A channel on which something was asked is kept a moment: a program that lists sessions
opens one next, and the handshake is the dear part. What can be asked twice is asked
again on a new channel if the old one ended while it lay idle; a creation never is.

Everything here belongs to one event loop.
"""

import asyncio

from holdfast.client.host_link import HostLink, reach_host
from holdfast.client.hosts import KnownHost
from holdfast.crypto.identity import Identity
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Creation, Request

PARKED = 3.0
"""Seconds that an answered channel is kept for what is asked next."""


class Channels:
    """What one operator has open to one host; `tasks` end what is kept too long."""

    def __init__(self, host: KnownHost, us: Identity, tasks: asyncio.TaskGroup) -> None:
        self.host = host
        self._us = us
        self._tasks = tasks
        self._parked: tuple[HostLink, asyncio.TimerHandle] | None = None
        self._coming: asyncio.Task[HostLink | errors.HoldfastError] | None = None
        """A channel that is being opened for what is going to be asked."""

        self._is_hinted = False
        """Whether the host hung up saying that we are revoked: a hint, which a relay
        can forge, and which decides what it means when we are not let in again."""

    def expect(self) -> None:
        """Open a channel while nobody waits: something is going to be asked."""
        if self._parked is None and self._coming is None:
            self._coming = self._tasks.create_task(self._tried())

    async def ask(self, asked: Request) -> Facts:
        """Ask the host something, and return its answer.

        Raises:
            HoldfastError: It refused, and why.
            Unsettled: It went away with a creation that it may have done.
            Unavailable: It cannot be reached, or does not answer.

        """
        if isinstance(asked, Creation):
            # Never twice: whether a host that went away has made it, nobody knows.
            link = await self._reached()
            try:
                return await self._asked(link, asked)
            except errors.LinkEnded as error:
                raise errors.CreationUnknown(str(error)) from error
        parked = self._take_parked()
        if parked is not None:
            try:
                return await self._asked(parked, asked)
            except errors.LinkEnded:
                pass  # It ended while it lay idle; the rest can be asked again.
        return await self._asked(await self._reached(), asked)

    async def open(self, session: SessionId) -> HostLink:
        """Return a channel that leads to the holder of a session.

        Raises:
            Forbidden: The host does not let us in.
            Unavailable: It cannot be reached.

        """
        link = self._take_parked()
        if link is not None:
            try:
                await _opened(link, session)
            except errors.LinkEnded:
                link = None
        if link is None:
            link = await self._reached()
            await _opened(link, session)
        self._is_hinted = False
        return link

    def ended(self, error: errors.LinkEnded) -> None:
        """Take note of how a channel to a session has ended."""
        self._is_hinted = self._is_hinted or error.facts["why"] == errors.Revoked.code

    async def close(self) -> None:
        """Hang up on the channel that is kept, or not there yet."""
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.cancel()
            await asyncio.wait([coming])
            if not coming.cancelled() and isinstance(made := coming.result(), HostLink):
                await made.close()
        if (link := self._take_parked()) is not None:
            await link.close()

    async def _tried(self) -> HostLink | errors.HoldfastError:
        """Reach the host; what is wrong, they are told who ask something of it."""
        try:
            return await reach_host(self.host, self._us)
        except errors.HoldfastError as error:
            return error

    async def _reached(self) -> HostLink:
        coming, self._coming = self._coming, None
        made = await (self._tried() if coming is None else coming)
        if isinstance(made, errors.HostUnreachable) and self._is_hinted:
            raise errors.Revoked(self.host.name) from made
        if isinstance(made, errors.HoldfastError):
            raise made
        return made

    async def _asked(self, link: HostLink, asked: Request) -> Facts:
        try:
            answer = await link.ask(asked)
        except BaseException:
            await link.close()
            raise
        self._unpark()  # Of two that were asked at once, one is enough.
        later = asyncio.get_running_loop().call_later(PARKED, self._unpark)
        self._parked = link, later
        return answer

    def _take_parked(self) -> HostLink | None:
        if self._parked is None:
            return None
        (link, later), self._parked = self._parked, None
        later.cancel()
        return link

    def _unpark(self) -> None:
        if (link := self._take_parked()) is not None:
            self._tasks.create_task(link.close())


async def _opened(link: HostLink, session: SessionId) -> None:
    try:
        await link.open_session(session)
    except BaseException:
        await link.close()
        raise
