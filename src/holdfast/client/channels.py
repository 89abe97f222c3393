"""Channels to one host elsewhere: for what is asked of it, and for its sessions.

One channel on which something was asked is kept: whoever lists sessions opens one
next, and the handshake is the dear part. What can be asked twice is asked again on a
new channel if the old one ended while it lay idle; a creation never is.

Everything here belongs to one event loop.
"""

from holdfast.client.hostlink import HostLink, reach_host
from holdfast.client.hosts import KnownHost
from holdfast.crypto.identity import Identity
from holdfast.model.errors import (
    CreationUnknown,
    HostUnreachable,
    LinkEnded,
    Revoked,
)
from holdfast.model.ids import SessionId
from holdfast.wire.requests import Packet


class Channels:
    """Everything that one operator has open to one host."""

    def __init__(self, host: KnownHost, us: Identity) -> None:
        self.host = host
        self._us = us
        self._parked: HostLink | None = None
        self._is_hinted = False
        """Whether the host hung up saying that we are revoked: a hint, which a relay
        can forge, and which decides what it means when we are not let in again."""

    async def ask(self, do: str, fields: dict[str, object]) -> Packet:
        """Ask the host something, and return its answer.

        Raises:
            HoldfastError: It refused, and why.
            Unsettled: It went away with a creation that it may have done.
            Unavailable: It cannot be reached, or does not answer.

        """
        if do == "create":
            # Never twice: whether a host that went away has made it, nobody knows.
            link = await self._reached()
            try:
                return await self._asked(link, do, fields)
            except LinkEnded as error:
                raise CreationUnknown(str(error)) from error
        parked = self._take_parked()
        if parked is not None:
            try:
                return await self._asked(parked, do, fields)
            except LinkEnded:
                pass  # It ended while it lay idle; the rest can be asked again.
        return await self._asked(await self._reached(), do, fields)

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
            except LinkEnded:
                link = None
        if link is None:
            link = await self._reached()
            await _opened(link, session)
        self._is_hinted = False
        return link

    def ended(self, error: LinkEnded) -> None:
        """Take note of how a channel to a session has ended."""
        self._is_hinted = self._is_hinted or error.facts["why"] == Revoked.code

    async def close(self) -> None:
        """Hang up on the channel that is kept."""
        if (link := self._take_parked()) is not None:
            await link.close()

    async def _reached(self) -> HostLink:
        try:
            return await reach_host(self.host, self._us)
        except HostUnreachable as error:
            if self._is_hinted:
                raise Revoked(self.host.name) from error
            raise

    async def _asked(
        self, link: HostLink, do: str, fields: dict[str, object]
    ) -> Packet:
        try:
            answer = await link.ask(do, **fields)
        except BaseException:
            await link.close()
            raise
        if self._parked is None:
            self._parked = link
        else:
            await link.close()  # Two asked at once; one channel is enough.
        return answer

    def _take_parked(self) -> HostLink | None:
        link, self._parked = self._parked, None
        return link


async def _opened(link: HostLink, session: SessionId) -> None:
    try:
        await link.open_session(session)
    except BaseException:
        await link.close()
        raise
