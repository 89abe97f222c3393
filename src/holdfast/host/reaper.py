"""Reaps sessions that nobody uses, as the user's settings say: off unless they do.

core/session/idle_sessions.py decides; here sessions are looked at, at a pace that
follows from the settings, warnings go to the keeper, and an end is asked for in the
name of an operator, `reaper`. The session's holder has the last word: who attaches
before it has agreed keeps the session. A host that is replaced begins to count anew.
"""

import asyncio
import contextlib
import math
import os
import socket
import time
from collections.abc import Mapping  # noqa: TC003  # an annotation people read

from holdfast.aio.log import log
from holdfast.core.session import idle_sessions as idle
from holdfast.host.guests import Guest, wall
from holdfast.host.holder_visit import holder_socket, visit
from holdfast.host.idle_look import IdleLook, Looked
from holdfast.linux import packets
from holdfast.linux.stored import config, folders
from holdfast.linux.stored.service_operators import service
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.process_status import ReapReport, ReapStanding
from holdfast.model.reap_words import ReapWord
from holdfast.model.session_record import CAPSULE
from holdfast.model.settings import Reaping
from holdfast.wire.codec import error_from
from holdfast.wire.messages import Event, Refuse
from holdfast.wire.preflights import Preflight, PreflightRequest
from holdfast.wire.reaps import Reap

NAME = "reaper"

FASTEST, SLOWEST = 0.5, 300.0
"""Seconds between two looks."""

LOOKS, WARNED_LOOKS = 12, 3
"""Looks in a window, and in a warning: by so much of it a session is reaped later than
it could be. When it is warned of is no matter of looks."""

AGAIN = 5.0
"""Seconds between two looks at the settings while nothing is to be reaped, and after a
keeper that did not answer."""

AT_ONCE = 2
"""Sessions reaped at a time: a checkpoint takes a processor and the disk."""

ANSWER = 600.0
"""Seconds for a session to be put to disk, or to begin to end."""

IN_A_PACKET = 100
"""Warnings told to the keeper at once."""

MAX_TOLD = 128
"""Sessions of which it is told how they stand: as many as fit into a packet."""


def policy_of(settings: Reaping) -> idle.Policy:
    """Return what is decided by, as the settings have it."""
    window = settings.after or math.inf
    # A warning of nothing is no reason to look all the time.
    warned = settings.warning / WARNED_LOOKS or SLOWEST
    pace = min(max(min(window / LOOKS, warned), FASTEST), SLOWEST)
    return idle.Policy(
        window=window,
        warning=settings.warning,
        action=idle.Action.CHECKPOINT if settings.checkpoint else idle.Action.END,
        max_resident=settings.sessions or None,
        max_memory=settings.memory or None,
        pace=pace,
    )


class ReaperDriver:
    """What this host reaps."""

    def __init__(self) -> None:
        self._look = IdleLook()
        self._settings = Reaping()
        self._trace: tuple[int, int] | None = None
        self._machine: idle.Reaper | None = None
        self._policy = policy_of(self._settings)
        self._known: Mapping[SessionId, Looked] = {}
        self._keeper: socket.socket | None = None
        self._words: dict[str, ReapWord] = {}
        self._room = asyncio.Semaphore(AT_ONCE)
        self._woken = asyncio.Event()
        self._reaped = 0
        self._group: asyncio.TaskGroup

    async def run(self) -> None:
        """Look and reap until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            while True:
                self._woken.clear()
                wait = AGAIN
                if await asyncio.to_thread(self._read_settings):
                    self._begin()
                if self._machine is not None:
                    wait = await self._round(self._machine)
                self._tell_keeper()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._woken.wait()

    def keeper_found(self, link: socket.socket) -> None:
        """Take that there is a keeper, which is told of warnings."""
        self._keeper = link

    def keeper_lost(self) -> None:
        """Take that the keeper is gone; the next is told anew of what is warned of."""
        self._keeper = None

    def look_now(self) -> None:
        """Look now, and not when it is time: somebody wants that."""
        self._woken.set()

    def report(self) -> ReapReport:
        """Say what is gone by, and how each session stands: the longest idle first."""
        settings, found = self._settings, list[ReapStanding]()
        if self._machine is not None:
            standings = self._machine.standings(_now())
            found = [self._told(one) for one in standings if one.session in self._known]
        return ReapReport(
            settings.is_on,
            settings.after,
            settings.warning,
            settings.people,
            settings.checkpoint,
            settings.sessions,
            settings.memory,
            self._reaped,
            tuple(found[:MAX_TOLD]),
            len(found),
        )

    def _told(self, one: idle.Standing) -> ReapStanding:
        record = self._known[one.session].record
        return ReapStanding(
            one.session,
            record.name,
            one.idle,
            one.why_not,
            "" if one.reason is None else one.reason.value,
            -1.0 if one.reap_in is None else one.reap_in,
            self._known[one.session].memory,
        )

    # ── the settings ──────────────────────────────────────────────────────

    def _read_settings(self) -> bool:
        """Read the settings if their file has changed; tell whether they did."""
        trace = (0, 0)
        with contextlib.suppress(OSError):
            found = os.stat(folders.config_file())  # noqa: PTH116  # a string
            trace = found.st_mtime_ns, found.st_ino
        if trace == self._trace:
            return False
        self._trace = trace
        former, self._settings = self._settings, config.settings().host.reap
        return former != self._settings

    def _begin(self) -> None:
        """Go by other settings from now on."""
        self._lift_all()
        self._policy = policy_of(self._settings)
        self._known = {}
        self._machine = None
        if self._settings.is_on:
            self._machine = idle.Reaper(self._policy)
            log("reaper.on", after=self._settings.after, pace=self._policy.pace)

    # ── a look ────────────────────────────────────────────────────────────

    async def _round(self, machine: idle.Reaper) -> float:
        """Look at every session, do what follows, and return when to look again."""
        if self._keeper is None:
            return FASTEST
        try:
            looked = await asyncio.to_thread(
                self._look.look, people=self._settings.people
            )
        except (HoldfastError, OSError) as error:
            log("reaper.blind", why=str(error))
            return AGAIN
        now, known = _now(), {one.id: one for one in looked}
        for session in self._known.keys() - known.keys():
            machine.handle(idle.Departed(session), now)
        for one in looked:
            if one.record.reaps_ms and one.id not in self._known:
                self._say(one.id, 0)  # A predecessor of ours had said so.
            seen = idle.Observed(one.id, one.activity, one.memory)
            self._perform(machine, machine.handle(seen, now))
        self._known = known
        self._perform(machine, machine.tick(now))
        due = machine.next_deadline()
        pace = self._policy.pace
        return pace if due is None else min(pace, max(due - now, FASTEST))

    def _perform(self, machine: idle.Reaper, effects: list[idle.Effect]) -> None:
        for effect in effects:
            match effect:
                case idle.Warn(session, left, reason):
                    log("session.idle", session=session, reap_in=left, why=reason.value)
                    self._say(session, round((wall() + left) * 1000), reason.value)
                case idle.Unwarn(session):
                    self._say(session, 0)
                case idle.Reap():
                    self._group.create_task(self._reap(machine, effect))

    # ── the end of one ────────────────────────────────────────────────────

    async def _reap(self, machine: idle.Reaper, due: idle.Reap) -> None:
        looked_at, session = _now(), due.session
        looked = self._known.get(session)
        event: idle.Event = idle.ReapRefused(session)
        try:
            async with self._room, asyncio.timeout(ANSWER):
                is_capsule = looked is not None and looked.record.runtime == CAPSULE
                is_kept = due.action is idle.Action.CHECKPOINT and is_capsule
                image = await committed(due, looked_at, is_capsule=is_kept)
        except (HoldfastError, OSError, TimeoutError) as error:
            log("session.not_reaped", session=session, why=str(error))
            self._say(session, 0)
        else:
            self._reaped += 1
            event = idle.Reaped(session)
            told = {"idle": round(due.idle), "why": due.reason.value, "image": image}
            log("session.reaped", session=session, **told)
        if machine is self._machine:
            machine.handle(event, _now())

    # ── the keeper ────────────────────────────────────────────────────────

    def _lift_all(self) -> None:
        for session in self._known:
            self._say(session, 0)

    def _say(self, session: SessionId, reaps_ms: int, why: str = "") -> None:
        self._words[session] = ReapWord(session, reaps_ms, why)

    def _tell_keeper(self) -> None:
        if self._keeper is None:
            return
        words = [*self._words.values()]
        with contextlib.suppress(OSError):  # It takes no more now, or is gone.
            for start in range(0, len(words), IN_A_PACKET):
                part = words[start : start + IN_A_PACKET]
                told = [one._asdict() for one in part]
                packets.send(self._keeper, {"do": "warned", "sessions": told})
                for one in part:
                    self._words.pop(one.id)


async def committed(due: idle.Reap, looked_at: float, *, is_capsule: bool) -> str:
    """Have a session end, on disk if that is possible; return the image's name.

    Raises:
        Unavailable: It is in use after all, or its holder or its disk refused.
        Forbidden: Somebody has taken the right away from the reaper.

    """
    session = due.session
    rights = (Right.OBSERVE, Right.CHECKPOINT, Right.END)
    guest = Guest(await asyncio.to_thread(service, NAME, *rights))
    async with await visit(guest, session, await holder_socket(session)) as link:
        stop = False
        if is_capsule:
            await link.send(PreflightRequest())
            while not isinstance(told := await link.receive(), Preflight | Refuse):
                pass
            # What CRIU cannot put to disk ends: nobody uses it.
            stop = isinstance(told, Preflight) and not told.blockers
        quiet_ms = math.ceil((_now() - looked_at) * 1000)
        idle_ms = round(due.idle * 1000)
        await link.send(
            Reap(stop=stop, quiet_ms=quiet_ms, idle_ms=idle_ms, why=due.reason.value)
        )
        while True:
            match await link.receive():
                case Refuse() as refused:
                    raise error_from(refused)
                case Event(name="session.reaped", fields=fields):
                    return str(fields.get("image", ""))
                case _:
                    pass


def _now() -> float:
    return time.monotonic()
