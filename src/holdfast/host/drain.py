"""Lets sessions leave a machine that goes down: to another host, or to disk.

core/session/drain_order.py says which goes when, and how. What the other host does not
take goes to disk, unless it is to move or stay. Who works in one that has to stay is
told, through the keeper.
"""

import asyncio
import socket
import time
from dataclasses import replace

from holdfast.aio.log import log
from holdfast.core.session.drain_order import (
    Able,
    Drain,
    Leaving,
    Way,
    Wish,
    way_for,
)
from holdfast.host import holder_request, session_mover
from holdfast.host.guests import Guest, wall
from holdfast.host.keeper_requests import PATIENCE
from holdfast.linux import packets
from holdfast.linux.keeper_requests import ask_keeper
from holdfast.linux.stored.config import settings
from holdfast.linux.stored.service_operators import service
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError, MoveUnfinished
from holdfast.model.ids import SessionId
from holdfast.model.process_status import DrainedSession, DrainReport
from holdfast.model.reap_words import DRAIN, ReapWord
from holdfast.model.session_record import SessionRecord, listed_in
from holdfast.model.session_requests import DrainHost, ListSessions

NAME = "drain"

ASKED_AT_ONCE = 8
"""Sessions asked at a time whether they can leave."""

IN_A_PACKET = 100
MAX_TOLD = 128
"""Sessions told of in one packet, and in one report."""

LEAST = 5.0
"""Seconds that a move is given at least, however near the deadline is."""

STEP = 0.05
"""Seconds between two looks whether something is done."""


async def way_of(guest: Guest, record: SessionRecord, wish: Wish) -> Leaving:
    """Say how a session leaves, or why it cannot."""
    able = Able(record.runtime, record.state, bool(record.authority))
    way, why = way_for(able, wish)
    if way is not Way.STAYS:  # Only then is it worth the question.
        try:
            told = await holder_request.blockers(guest, record.id)
        except (HoldfastError, OSError) as error:
            told = str(error)
        way, why = way_for(replace(able, in_the_way=told), wish)
    return Leaving(record.id, record.created_ms, way, why)


def wish_of(asked: DrainHost) -> Wish | None:
    """Return where a request wants sessions to go; None if it does not say."""
    if not asked.to:
        return None
    return Wish(asked.to, asked.only_moves)


class Drainer:
    """The drain of this host, once one was asked for."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._drain: Drain | None = None
        self._names: dict[str, str] = {}
        self._wish = Wish()
        self._moved: set[str] = set()
        self._failed = ""
        self._keeper: socket.socket | None = None

    def keeper_found(self, link: socket.socket | None) -> None:
        """Take that there is a keeper, or none any more."""
        self._keeper = link

    @property
    def is_on(self) -> bool:
        """Whether sessions are leaving."""
        return self._task is not None and not self._task.done()

    def begin(self, seconds: float, wish: Wish | None = None) -> None:
        """Let sessions leave within so many seconds, unless they do already.

        Where to is what is wished, or else what the settings say.
        """
        if not self.is_on:
            self._drain, self._moved, self._failed = None, set(), ""
            self._wish = Wish(settings().host.drain_to) if wish is None else wish
            self._task = asyncio.get_running_loop().create_task(self._run(seconds))

    def abandon(self) -> None:
        """Wait no longer; what is on its way ends whole, or the session goes on."""
        if self._task is not None:
            self._task.cancel()

    async def wait(self) -> None:
        """Wait until every session has left that can."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def report(self) -> DrainReport:
        """Say who has left, who has not, and who is about to."""
        drain = self._drain
        if drain is None:
            return DrainReport(on=self.is_on, failed=self._failed)
        left = [
            DrainedSession(one, self._name(one), host=at)
            if one in self._moved
            else DrainedSession(one, self._name(one), at)
            for one, at in drain.left.items()
        ]
        stayed = [
            DrainedSession(one, self._name(one), "", why)
            for one, why in drain.stayed.items()
        ]
        return DrainReport(
            self.is_on,
            len(drain.sessions),
            tuple(left[:MAX_TOLD]),
            tuple(stayed[:MAX_TOLD]),
            tuple(self._name(one) for one in drain.on_their_way),
            len(drain.left),
            len(drain.stayed),
            moved_count=len(self._moved),
        )

    def _name(self, session: str) -> str:
        return self._names.get(session, session)

    async def _run(self, seconds: float) -> None:
        deadline, ends_ms = time.monotonic() + seconds, round((wall() + seconds) * 1000)
        log("drain.began", seconds=seconds)
        try:
            rights = (Right.OBSERVE, Right.CHECKPOINT, Right.MOVE)
            guest = Guest(await asyncio.to_thread(service, NAME, *rights))
            drain = await self._chosen(guest, deadline)
        except (HoldfastError, OSError) as error:
            self._failed = str(error)
            log("drain.failed", why=str(error))
            return
        self._tell(drain, ends_ms)
        async with asyncio.TaskGroup() as group:
            while not drain.is_over and time.monotonic() < deadline:
                for one in drain.begin(time.monotonic()):
                    group.create_task(self._leave(guest, drain, one))
                await asyncio.sleep(STEP)
            drain.begin(deadline)  # What still waits, stays.
            # What is on its way is not broken off: it is on disk whole, or goes on.
        self._tell(drain, ends_ms)
        log("drain.ended", left=len(drain.left), stayed=len(drain.stayed))

    async def _chosen(self, guest: Guest, deadline: float) -> Drain:
        """Find out how each session leaves."""
        answer = await asyncio.to_thread(ask_keeper, ListSessions(), patience=PATIENCE)
        listed = map(SessionRecord.from_facts, listed_in(answer))
        living = [one for one in listed if one.exit is None]
        self._names = {one.id: one.name for one in living}
        room = asyncio.Semaphore(ASKED_AT_ONCE)

        async def ask(record: SessionRecord) -> Leaving:
            async with room:
                return await way_of(guest, record, self._wish)

        ways = await asyncio.gather(*map(ask, living))
        self._drain = Drain([*ways], deadline)
        return self._drain

    async def _leave(self, guest: Guest, drain: Drain, one: Leaving) -> None:
        session, where = one.session, ""
        try:
            if one.way is Way.MOVE:
                where = await self._move(guest, drain, session)
            if not where:
                where = (await holder_request.image(guest, session, stop=True)).image
        except (HoldfastError, OSError, TimeoutError) as error:
            why = str(error) or "it took too long"
            drain.refused(session, why, time.monotonic())
        else:
            drain.gone(session, where, time.monotonic())

    async def _move(self, guest: Guest, drain: Drain, session: SessionId) -> str:
        """Move a session; return where it is, or nothing if it may go to disk."""
        left = max(drain.deadline - time.monotonic(), LEAST)
        try:
            moved = await session_mover.move(
                guest, session, self._wish.host, min(left, session_mover.TIMEOUT)
            )
        except MoveUnfinished:
            raise  # It is on disk, and the same words finish it.
        except (HoldfastError, OSError, TimeoutError) as error:
            if self._wish.only_moves:
                raise
            log("drain.not_moved", session=session, why=str(error))
            return ""
        self._moved.add(session)
        return moved.host

    def _tell(self, drain: Drain, ends_ms: int) -> None:
        """Have who works in a session told that it stays behind."""
        words = [ReapWord(one, ends_ms, DRAIN) for one in drain.stayed]
        for start in range(0, len(words), IN_A_PACKET):
            part = [one._asdict() for one in words[start : start + IN_A_PACKET]]
            try:
                if self._keeper is not None:
                    packets.send(self._keeper, {"do": "warned", "sessions": part})
            except OSError as error:
                log("drain.untold", why=str(error))
