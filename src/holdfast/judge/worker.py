"""The process that runs other people's code, one question at a time.

It is forked, so it costs no start-up time; it is in a process group of its own, so that
what a plug-in starts dies with it; its memory is limited. Its parent kills it when it
is late.
"""

import contextlib
import ctypes
import os
import resource
import signal
import socket
from dataclasses import dataclass

from holdfast.core.policy.policy import Judgement, strictest
from holdfast.judge.plugins import Failed, Plugins
from holdfast.judge.webhook import ask_webhook
from holdfast.linux.judge_packets import MAX_PACKET, Answer, Ask
from holdfast.model.verdicts import Verdict

MAX_MEMORY = 1024 * 1024 * 1024
"""Address space of a worker: what a plug-in with large libraries needs."""

MAX_QUESTIONS = 1000
"""Questions after which a worker is replaced; what plug-ins leak goes with it."""

_PR_SET_PDEATHSIG = 1


@dataclass(slots=True, eq=False)
class Worker:
    """A worker, seen from its parent."""

    pid: int
    link: socket.socket
    asked: int = 0

    def fileno(self) -> int:
        """Return the descriptor that its answers come from."""
        return self.link.fileno()

    def bury(self) -> None:
        """Kill it, with everything it started, and reap it."""
        self.link.close()
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def fork_worker(others: list[int]) -> Worker:
    """Start a worker; it closes the descriptors of `others`, which are not its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid:
        theirs.close()
        # In both processes: whichever is first, the group exists before it counts.
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)
        return Worker(pid, ours)
    try:
        _work(theirs, [*others, ours.fileno()])
    finally:
        os._exit(1)


def _work(link: socket.socket, others: list[int]) -> None:
    os.setpgid(0, 0)
    # A plug-in that hangs must not outlive a judge that was killed.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for fd in others:
        os.close(fd)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    plugins = Plugins()
    while raw := link.recv(MAX_PACKET + 1):
        link.send(answer(plugins, Ask.from_bytes(raw)).to_bytes())


def answer(plugins: Plugins, ask: Ask) -> Answer:
    """Put a question to the plug-ins and the webhook; a deny ends it."""
    found: list[Judgement] = []
    try:
        if ask.plugins:
            plugins.demand_vouched(ask.vouched)
        for name in ask.plugins:
            found += _opinion(plugins.ask(name, ask.question))
            if found and found[-1].verdict is Verdict.DENY:
                return Answer(ask.ticket, found[-1])
        if ask.webhook is not None:
            found += _opinion(ask_webhook(ask.webhook, ask.question))
    except Failed as error:
        return Answer(ask.ticket, failed=str(error))
    return Answer(ask.ticket, strictest(found) if found else None)


def _opinion(said: Judgement | None) -> list[Judgement]:
    return [] if said is None else [said]
