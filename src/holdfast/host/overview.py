"""Which sessions need attention, and what each does now.

For a list that people look at: state, turn, who is here, what waits, and the last line
that is shown. Every holder is asked in the name of the operator who wants to know, so
that nobody learns of a session what they may not see in it. Answers are kept for a
moment, so that a page that asks every second costs one round of questions a second;
a holder that does not answer in time is told of as far as it has answered.

A session that dozes has no holder, and a question would wake it. Nothing happens in it,
so what was found out since it came to rest is told again; it is woken once, if nothing
was.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import NamedTuple

from holdfast.host.guests import Guest
from holdfast.host.holder_visit import holder_socket, visit
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable, shown_name
from holdfast.wire.codec import Message
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.host_requests import Packet
from holdfast.wire.messages import Refuse
from holdfast.wire.presence import Presence, Who
from holdfast.wire.screens import Screen, ScreenRequest

FRESH = 1.0
"""Seconds for which an answer is good: people do not read faster."""

PATIENCE = 1.0
"""Seconds for a holder to answer; what it has not said by then is left out."""

AT_ONCE = 8
"""Holders asked at the same time."""

MAX_SURVEYED = 200
"""Sessions looked into, newest first; of others only what the keeper knows is told."""

MAX_HERE = 8
"""Operators named of one session; how many there are is told too."""

MAX_LINE = 160
"""Characters of the last line."""

MAX_GUESTS = 256
"""Operators whose answers are kept."""

_NEEDS = ("approval", "secret", "attention", "input", "turn", "")
"""Why a session may need attention, most urgent first."""

_FOUND = (
    *("state", "program", "turn", "here", "count", "pending", "waiting", "frozen"),
    *("last_line", "hides", "needs"),
)
"""What a holder tells, and the keeper does not know."""

_WAITING = {"waiting-for-secret": "secret", "waiting-for-input": "input"}


class Look(NamedTuple):
    """What was found out about a session, and when that began."""

    at_ms: int
    facts: Packet


class Overview:
    """What was found out about sessions, for whom and when."""

    def __init__(self) -> None:
        self._kept: dict[ActorId, tuple[float, asyncio.Future[list[Packet]]]] = {}
        self._seen: dict[ActorId, dict[SessionId, Look]] = {}
        """What was found out last, by who asked, of the sessions that there are."""

        self._room = asyncio.Semaphore(AT_ONCE)

    async def of(self, guest: Guest, listed: list[SessionRecord]) -> list[Packet]:
        """Return what `guest` may know of the sessions listed, most urgent first.

        A guest who asks while the same is being found out waits for that; if the one
        who began it gives up, the next begins anew.
        """
        loop = asyncio.get_running_loop()
        while True:
            made_at, answer = self._kept.get(guest.id, (0.0, None))
            if answer is None or loop.time() - made_at > FRESH:
                break
            if not answer.done():
                await asyncio.wait({answer})
            if not answer.cancelled():
                return answer.result()
            self._kept.pop(guest.id, None)
        answer = loop.create_future()
        self._keep(guest.id, loop.time(), answer)
        try:
            found = await self._survey(guest, listed)
            answer.set_result(found)
        finally:
            answer.cancel()  # It does nothing to one that is done.
        return found

    def _keep(
        self, guest: ActorId, now: float, answer: asyncio.Future[list[Packet]]
    ) -> None:
        self._kept.pop(guest, None)
        while len(self._kept) >= MAX_GUESTS:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._seen.pop(oldest, None)
        self._kept[guest] = now, answer

    async def _survey(self, guest: Guest, listed: list[SessionRecord]) -> list[Packet]:
        newest = sorted(listed, key=lambda one: one.created_ms, reverse=True)
        async with asyncio.TaskGroup() as group:
            looking = [
                group.create_task(self._look(guest, one))
                for one in newest[:MAX_SURVEYED]
            ]
        looks = [task.result() for task in looking]
        self._seen[guest.id] = {
            listed.id: look for listed, look in zip(newest, looks, strict=False)
        }
        found = [look.facts for look in looks]
        found += [_known(one) for one in newest[MAX_SURVEYED:]]
        return sorted(found, key=lambda one: _NEEDS.index(str(one["needs"])))

    async def _look(self, guest: Guest, listed: SessionRecord) -> Look:
        facts = _known(listed)
        if listed.exit is not None:
            return Look(0, facts)
        seen = self._seen.get(guest.id, {}).get(listed.id)
        if listed.dozing and seen is not None and seen.at_ms >= listed.idle_ms:
            # What the keeper knows may have changed, such as its name.
            told = {name: seen.facts[name] for name in _FOUND}
            return Look(seen.at_ms, {**facts, **told})
        at_ms = time.time_ns() // 1_000_000
        async with self._room:
            with contextlib.suppress(HoldfastError, TimeoutError):
                async with (
                    asyncio.timeout(PATIENCE),
                    contextlib.aclosing(_asked(guest, listed.id)) as answers,
                ):
                    async for message in answers:
                        _take(facts, message)
        facts["needs"] = _need(facts)
        return Look(at_ms, facts)


async def _asked(guest: Guest, session: SessionId) -> AsyncGenerator[Message, None]:
    """Yield a holder's answers to our three questions, as they come."""
    questions = StateRequest(), Who(), ScreenRequest(cells=False)
    holder = await holder_socket(session)
    async with await visit(guest, session, holder) as link:
        await link.send(*questions)
        left = len(questions)
        while left:
            match message := await link.receive():
                case Screen(more=True):
                    pass  # Its last line is in its last part.
                case Evidence() | Presence() | Screen() | Refuse():
                    left -= 1
                    yield message
                case _:
                    pass


def _known(listed: SessionRecord) -> Packet:
    """Return what the keeper knows of a session, and blanks for the rest."""
    return {
        **listed.facts(),
        "program": "",
        "turn": None,
        "here": [],
        "count": 0,
        "pending": 0,
        "waiting": 0,
        "frozen": False,
        "last_line": "",
        "hides": False,
        "needs": "attention" if listed.attention.what else "",
    }


def _take(facts: Packet, message: Message) -> None:
    match message:
        case Evidence(state=word, program=program):
            facts.update(state=word, program=program)
        case Presence():
            facts.update(_standing(message))
        case Screen():
            facts.update(_shown(message))
        case _:
            pass


def _standing(told: Presence) -> Packet:
    here: dict[str, Packet] = {
        one.actor: {
            "actor": one.actor,
            "name": shown_name(one.name),
            "kind": one.kind.value,
            "mode": one.mode.value,
        }
        for one in told.present
    }
    turn = {"actor": told.holder, "name": "", "kind": "", "mode": ""}
    return {
        "turn": here.get(told.holder, turn) if told.holder else None,
        "here": [*here.values()][:MAX_HERE],
        "count": len(here),
        "pending": len(told.pending),
        "waiting": len(told.waiting),
        "frozen": told.frozen,
    }


def _shown(screen: Screen) -> Packet:
    """Return the last line that has something in it, and whether it hides some."""
    rows = screen.text.split("\n")
    last = next((at for at in range(len(rows) - 1, -1, -1) if rows[at].strip()), None)
    if last is None:
        return {"last_line": "", "hides": False}
    return {
        "last_line": printable(rows[last].strip(), MAX_LINE),
        "hides": bool(screen.hidden),
    }


def _need(facts: Packet) -> str:
    """Return why a session needs attention."""
    if facts["pending"]:
        return "approval"
    waits = _WAITING.get(str(facts["state"]), "")
    if facts["attention"] is not None and waits != "secret":
        return "attention"
    if waits:
        return waits
    return "turn" if facts["waiting"] else ""
