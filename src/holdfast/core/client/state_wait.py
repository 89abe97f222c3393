"""Waiting for a session's state, port or process, as the kernel reports it.

The kernel calls nobody when a program begins to wait, so it is asked again and again:
often at first, when an answer is likely, and less often later.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from holdfast.core.client import questions, timeouts
from holdfast.core.client.exchange import Exchange
from holdfast.core.client.questions import Gather, SessionQuestion
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.wire.codec import Message
from holdfast.wire.evidence import Evidence
from holdfast.wire.graphs import Graph, Listener

FIRST_STEP = 0.02
LAST_STEP = 0.25
"""Seconds between two questions, at first and after some of them."""

NOT_COME = "exited, and it had not come"

Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Departed(NamedTuple):
    """A process that is not there, and whether it was seen before."""

    pid: int
    was_seen: bool


class Wanted(NamedTuple, Generic[Answer, Result]):
    """What is asked, and what makes an answer the one that is waited for."""

    what: str
    question: SessionQuestion[Answer]
    judge: Callable[[Answer], Result | None]


def state(*words: str) -> Wanted[Evidence, Evidence]:
    """Wait until the session does one of these."""

    def judge(seen: Evidence) -> Evidence | None:
        if seen.state == "exited" and seen.state not in words:
            raise errors.SessionOver(NOT_COME)
        return seen if seen.state in words else None

    return Wanted(words[0], questions.state(), judge)


def port(number: int) -> Wanted[Graph, Listener]:
    """Wait until a process of the session listens on a port."""

    def judge(seen: Graph) -> Listener | None:
        for one in seen.listeners:
            if one.port == number:
                return one
        if not seen.processes:
            raise errors.SessionOver(NOT_COME)
        return None

    return Wanted(f"port {number}", questions.graph(descriptors=False), judge)


def departure(pid: int) -> Wanted[Graph, Departed]:
    """Wait until one process has ended, even if its number goes on."""
    started: list[int] = []

    def judge(seen: Graph) -> Departed | None:
        for one in seen.processes:
            if one.pid == pid and started in ([], [one.started_ticks]):
                started[:] = [one.started_ticks]
                return None
        return Departed(pid, bool(started))

    return Wanted(f"pid {pid}", questions.graph(descriptors=False), judge)


class Watch(Exchange[Result], Generic[Answer, Result]):
    """Asks until the answer is the one that is waited for, or the time is over."""

    def __init__(
        self,
        session: SessionId,
        wanted: Wanted[Answer, Result],
        now: float,
        deadline: float,
    ) -> None:
        self._session = session
        self._wanted = wanted
        self._begun_at = now
        self._deadline = deadline
        self._step = FIRST_STEP
        self._gather: Gather[Answer] | None = None
        self._due = now
        self._asked_at = now

    def linked(self, now: float) -> list[Message]:
        """Ask."""
        self._gather = self._wanted.question.begin()
        self._due, self._asked_at = now + timeouts.ANSWER, now
        return [*self._wanted.question.asked]

    def hear(self, message: Message, now: float) -> list[Message]:
        """Take a part of an answer, and judge it when it is whole."""
        answer = None if self._gather is None else self._gather(message)
        if answer is None:
            return []
        self._gather = None
        self.found()
        self.result = self._wanted.judge(answer)
        self._due = min(now + self._step, max(now, self._deadline))
        self._step = min(self._step * 1.5, LAST_STEP)
        return []

    def tick(self, now: float) -> list[Message]:
        """Ask again, or give up; the last look is when the time is over."""
        if now < self._due:
            return []
        if self._gather is not None:
            raise errors.SessionUnreachable(self._session, "it does not answer")
        if self._asked_at >= self._deadline:
            raise self._in_vain(now)
        return self.linked(now)

    def next_deadline(self, now: float) -> float:
        """Return when to ask again."""
        del now
        return self._due

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Ask the successor, while there is time."""
        if now >= self._deadline:
            raise self._in_vain(now) from error
        if self.is_lost(now):
            raise error

    def _in_vain(self, now: float) -> errors.WaitedInVain:
        waited = min(now, self._deadline) - self._begun_at
        return errors.WaitedInVain(self._wanted.what, round(waited * 1000))
