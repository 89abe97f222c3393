"""A standing link to one session: attached while it is used.

What is asked and sent on it, and what becomes of that when it breaks, is decided in
`core.client.standing_link`; here a task drives that, and others wait for it.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from holdfast.client.driver import attachment_to
from holdfast.core.client.exchange import AttachedExchange, AttachedInquiry
from holdfast.core.client.questions import SessionQuestion
from holdfast.core.client.standing_link import Passenger, StandingLink
from holdfast.core.client.submission import Submission
from holdfast.core.client.timeouts import APPROVAL, DROP
from holdfast.model.errors import HoldfastError, SessionOver, SessionUnreachable
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.sdk.driver import Driver
from holdfast.sdk.events import Noted
from holdfast.sdk.routes import Way
from holdfast.wire.messages import Mode

Result = TypeVar("Result")


class Line:
    """One client's standing attachment to a session."""

    def __init__(
        self, way: Way, session: SessionId, mode: Mode, tasks: asyncio.TaskGroup
    ) -> None:
        self._way = way
        self._session = session
        self._tasks = tasks
        self._attachment = attachment_to(session, mode)
        self._link = StandingLink(self._attachment)
        self._driver = Driver(way, session, self._link)
        self._task: asyncio.Task[None] | None = None
        self._users = 0
        self._has_left = False
        self.is_running = False
        """Whether one of our commands runs on it: there is room for one."""

    @property
    def us(self) -> ActorId:
        """Who we are to the session."""
        return self._attachment.us or self._way.us

    @property
    def is_open(self) -> bool:
        """Whether it is in use, or still being closed."""
        return self._task is not None and not self._task.done()

    @property
    def is_attached(self) -> bool:
        """Whether the session lives, as far as was heard, and has us."""
        return self.is_open and self._link.is_attached and not self._link.has_ended

    def take_noted(self) -> list[Noted]:
        """Return what the holder told of by itself, each thing once."""
        noted = [Noted(one.name, dict(one.fields)) for one in self._link.noted]
        self._link.noted.clear()
        return noted

    async def enter(self) -> None:
        """Attach, unless that is so already. Each `enter` needs a `leave`.

        Raises:
            Unavailable: The session cannot be reached.
            Forbidden: We may not attach.

        """
        self._users += 1
        try:
            await self.submit(InputKind.KEYS, b"", 0)
        except BaseException:
            await self.leave()
            raise

    async def leave(self) -> None:
        """Detach, unless the link is still used; sign what is not signed."""
        self._users -= 1
        if self._users == 0:
            await self._close()

    async def hang_up(self) -> None:
        """Detach for good, no matter who uses the line."""
        self._has_left = True
        await self._close()

    async def ask(self, question: SessionQuestion[Result]) -> Result:
        """Ask something, and return the answer.

        Raises:
            Unavailable: There is no answer, or nobody to give one.
            HoldfastError: It was refused, and why.

        """

        def begin(now: float) -> AttachedExchange[Result]:
            return AttachedInquiry(self._attachment, question, now)

        return await self._join(begin, asks=True)

    async def submit(
        self,
        kind: InputKind,
        payload: bytes,
        timeout: float,
        approval: float = APPROVAL,
    ) -> int:
        """Make inputs of `payload`, and return when the terminal has taken them all.

        What is returned is the stream's end just before. What nobody approves within
        `approval` seconds is taken back.

        Raises:
            HoldfastError: One was refused, and why; later ones were not sent.
            Unsettled: There is no answer to one.

        """
        made = Submission(self._attachment, kind, payload, timeout, approval)
        return await self.carry(made)

    async def carry(self, exchange: AttachedExchange[Result]) -> Result:
        """Carry an exchange through on this link, and return what came of it.

        Raises:
            HoldfastError: What the exchange ends with.

        """
        return await self._join(lambda _: exchange, asks=False)

    async def _join(
        self, begin: Callable[[float], AttachedExchange[Result]], *, asks: bool
    ) -> Result:
        await self._open()
        over: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        passenger = Passenger(begin, partial(_tell, over), asks=asks)
        self._link.join(passenger)
        self._driver.wake()
        try:
            return await asyncio.shield(over)
        except asyncio.CancelledError:
            passenger.give_up()
            self._driver.wake()
            if not asks:  # What it took is given back first.
                await asyncio.wait({over}, timeout=DROP)
            raise

    # ── the link ──────────────────────────────────────────────────────────

    async def _open(self) -> None:
        while self._link.result is not None and self._task and not self._task.done():
            await asyncio.wait({self._task})  # It is being closed.
        if self._has_left:
            raise self._left()
        if self._task is None or self._task.done():
            if self._link.has_ended:
                raise SessionOver("exited")
            self._link = StandingLink(self._attachment)
            self._driver = Driver(self._way, self._session, self._link)
            self._task = self._tasks.create_task(self._keep(self._link, self._driver))

    async def _keep(self, link: StandingLink, driver: Driver[bool]) -> None:
        try:
            await driver.run()
        except HoldfastError as error:
            link.fail(error)
        finally:
            link.fail(self._left())

    async def _close(self) -> None:
        task = self._task
        if task is None:
            return
        self._link.close()
        if self._link.is_attached:
            self._driver.wake()
        else:
            task.cancel()
        await asyncio.wait({task})

    def _left(self) -> SessionUnreachable:
        return SessionUnreachable(self._session, "we have left its host")


def _tell(over: asyncio.Future[Result], passenger: Passenger[Result]) -> None:
    if over.done():
        return
    if passenger.error is not None:
        over.set_exception(passenger.error)
        over.exception()  # Nobody may have waited for it.
    elif passenger.exchange is not None and passenger.exchange.result is not None:
        over.set_result(passenger.exchange.result)
    else:
        over.cancel()
