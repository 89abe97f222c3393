"""The holder's links to the judge: one for each open question.

Theory of operation
-------------------
The keeper listens on the judge's socket, so connecting starts a judge if there is
none, and nothing here waits for it. Each question has a link of its own: over it comes
the answer, or its end, or the deadline passes. A holder that no longer wants to know
hangs up, and the judge stops asking.

    asked ──answer to this question──▶ judged, or failed with what the judge says
      ├──no link, end, nonsense, another ticket, deadline──▶ failed
      └──dropped──▶ nobody is notified

Invariants, checked by tests/holder/policy/test_judge_link.py:

I1  The caller gets exactly one answer, by PATIENCE and a little; never before
    `ask` has returned, and never if the question was dropped.
I2  Whatever the judge does, short of answering this question, is a failure.
I3  A question that is settled or dropped leaves no link and no descriptor.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from socket import socket

from holdfast.holder.poll import Poll
from holdfast.holder.timers import Timers
from holdfast.linux import packets
from holdfast.linux.judge_packets import MAX_PACKET, Answer, Ask
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError

PATIENCE = 1.9
"""Seconds for an answer: the judge gives up after 1.75, and the gate after 2."""

UNREACHABLE = "cannot reach its judge"
LOST = "lost its judge while that was asked"
NONSENSE = "got nonsense from its judge"
LATE = "got no answer from its judge in time"
TOO_LARGE = "is asked about more than its judge can be told"

Then = Callable[[Answer], None]


@dataclass(slots=True, eq=False)
class Asked:
    """One question that is open."""

    ask: Ask
    then: Then
    deadline: float
    link: socket | None = None
    failed: str = ""
    """Why it failed at once; the asker is told at the next tick."""


class JudgeLink:
    """Our side of the links."""

    def __init__(self, poll: Poll, timers: Timers) -> None:
        self._poll = poll
        self._timer = timers.add(self.tick)
        self._open: list[Asked] = []

    @property
    def count(self) -> int:
        """How many questions are open."""
        return len(self._open)

    def ask(self, ask: Ask, then: Then) -> Asked:
        """Call `then` with the answer to a question, or with why there is none.

        What is returned can be given to `drop`.
        """
        now = time.monotonic()
        asked = Asked(ask, then, now + PATIENCE)
        self._open.append(asked)
        self._send(asked, ask.to_bytes())
        if asked.failed:
            asked.deadline = now
        self._rearm()
        return asked

    def drop(self, asked: Asked) -> None:
        """Take back a question; nothing if it is settled."""
        if asked in self._open:
            self._close(asked)

    def close(self) -> None:
        """Hang up on everything."""
        for asked in list(self._open):
            self._close(asked)

    def tick(self, now: float) -> None:
        """Give up what takes too long."""
        for asked in [one for one in self._open if now >= one.deadline]:
            self._fail(asked, asked.failed or LATE)

    def _send(self, asked: Asked, raw: bytes) -> None:
        if len(raw) > MAX_PACKET:
            asked.failed = TOO_LARGE
            return
        try:
            link = packets.connect(places.judge_socket(), timeout=0)
        except (OSError, HoldfastError):
            asked.failed = UNREACHABLE
            return
        try:
            # Also if the judge is yet to be started: the kernel keeps it.
            is_sent = packets.is_ours(link) and link.send(raw) == len(raw)
        except OSError:
            is_sent = False
        if not is_sent:
            link.close()
            asked.failed = UNREACHABLE
            return
        asked.link = link
        self._poll.watch(link, lambda: self._heard(asked, link))

    def _heard(self, asked: Asked, link: socket) -> None:
        if asked.link is not link:
            return  # It was dropped by what was heard before it.
        try:
            raw = link.recv(MAX_PACKET + 1)
        except BlockingIOError:
            return
        except OSError:
            raw = b""
        if not raw:
            self._fail(asked, LOST)
            return
        answer = _read(raw)
        if answer is None or answer.ticket != asked.ask.ticket:
            self._fail(asked, NONSENSE)
            return
        self._close(asked)
        asked.then(answer)

    def _fail(self, asked: Asked, why: str) -> None:
        self._close(asked)
        ask = asked.ask
        asked.then(Answer(ask.ticket, failed=f"{why} ({ask.whom})"))

    def _close(self, asked: Asked) -> None:
        self._open.remove(asked)
        self._rearm()
        link, asked.link = asked.link, None
        if link is not None:
            self._poll.unwatch(link)
            link.close()

    def _rearm(self) -> None:
        self._timer.set(min((one.deadline for one in self._open), default=None))


def _read(raw: bytes) -> Answer | None:
    if len(raw) > MAX_PACKET:
        return None  # The kernel has cut it: what is left may mean something else.
    try:
        return Answer.from_bytes(raw)
    except HoldfastError:
        return None
