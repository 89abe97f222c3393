"""Assigns questions to workers, and handles those that get no answer.

Theory of operation
-------------------
Every question has a deadline from the moment it arrives. It waits until a worker
is free, is put to that one alone, and is answered, or the worker is killed. A
plug-in that hangs costs its own question and one worker until the deadline; no
link has more than MAX_RUNNING of them, so that one session's questions cannot
keep the others from being heard. A client that hangs up withdraws its questions: no
worker is kept busy for nobody.

    asked ──▶ waiting ──worker free──▶ running ──answer──────────────▶ answered
                 ├──deadline──▶ failed    ├──deadline, death, nonsense─▶ failed
                 └──link ends──▶ gone     └──link ends─────────────────▶ gone

Invariants, checked by tests/judge/test_worker_pool.py with real processes:

I1  Every question is answered exactly once, by its deadline and a little, unless
    the client that asked is gone.
I2  A worker that is late, dies or talks nonsense is gone, with all it started; so
    is one that works for nobody.
I3  A link is never waited for: one that does not read its answers is closed.
"""

import contextlib
import selectors
import socket
import time
from collections import deque
from dataclasses import dataclass

from holdfast.judge.worker import MAX_QUESTIONS, Worker, fork_worker
from holdfast.linux import packets
from holdfast.linux.judge_packets import MAX_PACKET, Answer, Ask
from holdfast.model.errors import PeerError

MAX_WORKERS = 16
"""Processes at once; each may be stuck for as long as a deadline."""

MAX_RUNNING = 4
"""Questions of one link that are with workers."""

MAX_WAITING = 64
"""Questions of one link that wait; the gate has no more tickets open than that."""

MAX_IDLE = 2
"""Workers kept for the next question: a fork and loading plug-ins take time."""

MAX_LINKS = 4096
"""Holders that may be connected: more than a machine has sessions."""

REST = 600.0
"""Seconds without any link after which the process ends; it is started again."""

LATE = "did not answer in time"
CROWDED = "is asked too much at once"
GONE = "lost the process that ran its plug-ins"
NONSENSE = "got nonsense from a plug-in"


@dataclass(slots=True, eq=False)
class Case:
    """One question on its way."""

    link: socket.socket
    ticket: int
    raw: bytes
    deadline: float
    whom: str
    """Who is asked, for people."""

    def failed(self, why: str) -> Answer:
        """Return a failed answer: why it failed, and who should have given it."""
        return Answer(self.ticket, failed=f"{why} ({self.whom})")


class WorkerPool:
    """Takes questions from links and puts them to workers."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._selector = selectors.EpollSelector()
        self._links: set[socket.socket] = set()
        self._waiting: deque[Case] = deque()
        self._running: dict[Worker, Case] = {}
        self._idle: list[Worker] = []
        self._empty_at = time.monotonic()
        listener.settimeout(0)
        self._selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        """Work until nobody has been here for REST seconds."""
        try:
            while self._links or time.monotonic() < self._empty_at + REST:
                self._step()
        finally:
            for worker in [*self._running, *self._idle]:
                worker.bury()

    def _step(self) -> None:
        for key, _ in self._selector.select(self._patience()):
            ready = key.fileobj
            if ready is self._listener:
                self._welcome()
            elif isinstance(ready, Worker):
                # One that was dismissed by what a link did is not asked.
                if ready in self._running or ready in self._idle:
                    self._hear(ready)
            elif ready in self._links:
                self._take(ready)
        self._end_what_is_late(time.monotonic())
        self._assign()

    def _patience(self) -> float:
        cases = [*self._waiting, *self._running.values()]
        now = time.monotonic()
        first = min((case.deadline for case in cases), default=now + REST)
        return max(0.0, first - now)

    # ── links ─────────────────────────────────────────────────────────────

    def _welcome(self) -> None:
        try:
            link, _ = self._listener.accept()
        except OSError:
            return
        if len(self._links) >= MAX_LINKS or not packets.is_ours(link):
            link.close()
            return
        link.settimeout(0)
        self._links.add(link)
        self._selector.register(link, selectors.EVENT_READ)

    def _take(self, link: socket.socket) -> None:
        arrived_at = time.monotonic()
        try:
            raw = link.recv(MAX_PACKET + 1)
            ask = Ask.from_bytes(raw)
        except BlockingIOError:
            return
        except (OSError, PeerError):  # gone, or not a holder
            self._part(link)
            return
        case = Case(link, ask.ticket, raw, arrived_at + ask.timeout, ask.whom)
        if sum(other.link is link for other in self._waiting) >= MAX_WAITING:
            self._reply(case, case.failed(CROWDED))
        else:
            self._waiting.append(case)

    def _part(self, link: socket.socket) -> None:
        self._selector.unregister(link)
        self._links.discard(link)
        link.close()
        self._waiting = deque(case for case in self._waiting if case.link is not link)
        for worker in [w for w, case in self._running.items() if case.link is link]:
            self._dismiss(worker)
        self._empty_at = time.monotonic()

    def _reply(self, case: Case, answer: Answer) -> None:
        if case.link not in self._links:
            return
        try:
            case.link.send(answer.to_bytes())
        except OSError:
            self._part(case.link)

    # ── workers ───────────────────────────────────────────────────────────

    def _assign(self) -> None:
        for case in list(self._waiting):
            with_workers = [other.link for other in self._running.values()]
            if len(with_workers) == MAX_WORKERS:
                return
            if with_workers.count(case.link) < MAX_RUNNING and case in self._waiting:
                self._waiting.remove(case)
                self._put(case)

    def _put(self, case: Case) -> None:
        try:
            worker = self._idle.pop() if self._idle else self._fork()
            worker.asked += 1
            self._running[worker] = case
            worker.link.send(case.raw)
        except OSError:
            # It died while it was idle, or there is no memory for another.
            for lost in [w for w, its in self._running.items() if its is case]:
                self._dismiss(lost)
            self._reply(case, case.failed(GONE))

    def _fork(self) -> Worker:
        keys = self._selector.get_map().values()
        others = [self._selector.fileno(), *(key.fd for key in keys if key.fd > 0)]
        worker = fork_worker(others)
        worker.link.settimeout(0)
        self._selector.register(worker, selectors.EVENT_READ)
        return worker

    def _hear(self, worker: Worker) -> None:
        case = self._running.get(worker)
        answer = _heard(worker)
        if case is None:
            self._dismiss(worker)  # Nothing was asked: it died, or it is not sane.
            return
        if answer is None or answer.ticket != case.ticket:
            self._dismiss(worker)
            self._reply(case, case.failed(GONE if answer is None else NONSENSE))
            return
        del self._running[worker]
        if worker.asked >= MAX_QUESTIONS or len(self._idle) >= MAX_IDLE:
            self._dismiss(worker)
        else:
            self._idle.append(worker)
        self._reply(case, answer)

    def _dismiss(self, worker: Worker) -> None:
        self._selector.unregister(worker)
        self._running.pop(worker, None)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.bury()

    def _end_what_is_late(self, now: float) -> None:
        late = [case for case in self._waiting if now >= case.deadline]
        stuck = [w for w, case in self._running.items() if now >= case.deadline]
        for case in late:
            self._waiting.remove(case)
        for worker in stuck:
            late.append(self._running[worker])
            self._dismiss(worker)
        # Only now: a link that takes no answer is closed, with all its questions.
        for case in late:
            self._reply(case, case.failed(LATE))


def _heard(worker: Worker) -> Answer | None:
    with contextlib.suppress(OSError, PeerError):
        return Answer.from_bytes(worker.link.recv(MAX_PACKET + 1))
    return None
