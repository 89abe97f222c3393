"""The host's link to one relay: kept up, and dialled again whenever it breaks.

While the link is up the relay knows whom we admit and the ids of our sessions, and
knocks for each operator that comes; each is answered on a connection of its own,
which outlives this one. What breaks the link, a relay that is stopped, a cut,
another process with our key, is waited out (core.relay.redial), but no lease is slept
through. Several relays are several uplinks that know nothing of each other.
"""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable

from holdfast.aio.log import log
from holdfast.aio.relay_client import Admitted, Knocked, Registration, register
from holdfast.core.relay.redial import LONGEST, Redial
from holdfast.core.relay.unproven_connections import is_loopback
from holdfast.crypto.identity import Identity
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.process_status import RelayStatus

LONGEST_NEAR = 1.0
"""Seconds between attempts at a relay of this machine, which costs nothing."""


class Uplink:
    """One relay, and how things stand with it."""

    def __init__(
        self,
        relay: str,
        us: Identity,
        came: Callable[[Knocked], None],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.relay = relay
        self.is_up = False
        self.why = "not tried yet"
        self.knocks = 0
        self._us = us
        self._came = came
        self._tls = tls
        self._admitted = Admitted()
        self._sessions: frozenset[SessionId] = frozenset()
        self._registration: Registration | None = None
        self._hurry = asyncio.Event()
        self.linked: Callable[[str], None] = lambda _: None
        """Told of this relay whenever there is a new link to it."""

    @property
    def registration(self) -> Registration | None:
        """The link, while there is one."""
        return self._registration

    async def run(self, next_deadline: Callable[[], float | None]) -> None:
        """Keep the link up until cancelled. Cancelling hangs up."""
        loop = asyncio.get_running_loop()
        redial = Redial(LONGEST_NEAR if _is_near(self.relay) else LONGEST)
        while True:
            try:
                await self._linked(redial)
            except (HoldfastError, OSError) as error:
                self.why = str(error)
            finally:
                self._registration, was_up = None, self.is_up
                self.is_up = False
            chance = os.urandom(1)[0] / 255
            wait = redial.wait_after(loop.time(), chance, next_deadline())
            if was_up:
                log("relay.lost", relay=self.relay, why=self.why, again_in=wait)
            await self._rest(wait)

    async def admit(self, admitted: Admitted) -> None:
        """Say whom we admit from now on, at once if there is a link."""
        self._admitted = admitted
        if self._registration is not None:
            await self._told(self._registration.admit(admitted))

    async def publish(self, sessions: frozenset[SessionId]) -> None:
        """Say which sessions are here from now on, at once if there is a link."""
        self._sessions = sessions
        if self._registration is not None:
            await self._told(self._registration.publish(sessions))

    async def _told(self, telling: Awaitable[None]) -> None:
        try:
            await telling
        except (HoldfastError, OSError) as error:
            self.why = str(error)  # The link is gone, which `run` will notice.

    def hurry(self) -> None:
        """Dial at once if we wait for the next attempt."""
        self._hurry.set()

    def status(self) -> RelayStatus:
        """Say how it stands with this relay."""
        why = "" if self.is_up else self.why
        return RelayStatus(self.relay, self.is_up, why, self.knocks)

    async def _linked(self, redial: Redial) -> None:
        loop = asyncio.get_running_loop()
        async with register(
            self.relay, self._us, self._admitted, self._tls
        ) as registration:
            redial.linked(loop.time())
            self._registration, self.is_up = registration, True
            log("relay.found", relay=self.relay)
            # An operator may have been enrolled while we were registering.
            await registration.admit(self._admitted)
            await registration.publish(self._sessions)
            self.linked(self.relay)
            async for knock in registration:
                self.knocks += 1
                self._came(knock)

    async def _rest(self, wait: float) -> None:
        self._hurry.clear()
        try:
            async with asyncio.timeout(wait):
                await self._hurry.wait()
        except TimeoutError:
            return


def _is_near(relay: str) -> bool:
    host = relay.partition("://")[2].rpartition(":")[0].strip("[]")
    return is_loopback(host)
