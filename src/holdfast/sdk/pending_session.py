"""A session that is being started; withdrawn if the caller stops waiting."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from holdfast.client.driver import attachment_to
from holdfast.client.pending_start import Waiting, waiting_in
from holdfast.core.client.start_wait import StartWait
from holdfast.model.errors import HoldfastError
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created, Creation, Recover
from holdfast.sdk.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.sdk.host import Host


class PendingSession:
    """One session on its way."""

    def __init__(self, host: "Host", asked: Creation | Recover, timeout: float) -> None:
        self._host = host
        self._asked = asked
        self._timeout = timeout
        self._is_wanted = True
        self._give_up: Callable[[], None] = _do_nothing

    async def wait(self, tasks: asyncio.TaskGroup) -> str:
        """Return its id once it has begun.

        Raises:
            HoldfastError: It has not, and why.

        """
        making = tasks.create_task(self._make())
        try:
            made = await asyncio.shield(making)
        except asyncio.CancelledError:
            self._is_wanted = False
            self._give_up()
            raise
        if isinstance(made, HoldfastError):
            raise made
        return made

    async def _make(self) -> str | HoldfastError:
        try:
            answer = await self._host.way.ask(self._asked)
            created = record_of(Created, answer)
            made, waits = created.id, waiting_in(created)
            if waits is not None:
                await self._approved(waits)
        except HoldfastError as error:
            return error
        if not self._is_wanted:
            with contextlib.suppress(HoldfastError):
                await self._host.attach(made).end()
        return made

    async def _approved(self, waits: Waiting) -> None:
        """Wait for approval; withdraw the request if the caller stops waiting."""
        loop = asyncio.get_running_loop()
        attachment = attachment_to(waits.session, client=waits.client)
        timeout = self._timeout if self._is_wanted else 0
        start = StartWait(attachment, waits.text, timeout, loop.time())
        driver = Driver(self._host.way, waits.session, start)

        def give_up() -> None:
            start.give_up(loop.time())
            driver.wake()

        self._give_up = give_up
        await self._host.converse(waits.session, driver)


def _do_nothing() -> None:
    pass
