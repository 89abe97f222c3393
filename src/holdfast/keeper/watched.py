"""The processes that the keeper watches: how each is asked, and how it is ended.

The machine in `watchdog` says when; what is done with the place of one that was
killed is left to the code that deals with its death.
"""

import os
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.linux import packets, process_activity
from holdfast.linux.replacements import Replacement, replacement, say
from holdfast.linux.watchdog import MAX_CPU, SOON, Act, Watchdog


@dataclass(frozen=True, slots=True)
class Means:
    """What can be done with one process."""

    what: str
    """What it is, for people: `holder`, `nursery`, …"""

    ask: Callable[[], None]
    """Have it answer from its loop."""

    kill: Callable[[], None] | None
    """End it; None if that is not for us to do, and it is only said that it hangs."""


class Watched:
    """All watched processes, by name: a session's id, or what the process is."""

    def __init__(self, replaced: Callable[[Replacement], None]) -> None:
        self._replaced = replaced
        self._watchdog = Watchdog()
        self._means: dict[str, Means] = {}

    def watch(
        self,
        name: str,
        pid: int,
        means: Means,
        *,
        every: float = SOON,
        max_cpu: float = MAX_CPU,
    ) -> None:
        """Watch a process, in place of another of this name."""
        # One in another namespace has no number here.
        if pid > 1:
            self._means[name] = means
            now = time.monotonic()
            self._watchdog.watch(name, pid, now, every=every, max_cpu=max_cpu)

    def rest(self, name: str) -> None:
        """Note that the process of this name is gone; another may come."""
        self._means.pop(name, None)
        self._watchdog.rest(name)

    def drop(self, name: str) -> None:
        """Forget a name for good."""
        self._means.pop(name, None)
        self._watchdog.drop(name)

    def answered(self, name: str) -> None:
        """Note that one has said something from its loop."""
        self._watchdog.answered(name, time.monotonic())

    def stalled(self, name: str) -> str:
        """Return what is wrong with one that does not answer; empty if nothing is."""
        return self._watchdog.stalled(name)

    def everyone_stalled(self) -> dict[str, str]:
        """Return who does not answer, by name, and what is wrong."""
        found = {name: self.stalled(name) for name in self._means}
        return {name: why for name, why in found.items() if why}

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return self._watchdog.next_deadline()

    def tick(self, now: float) -> None:
        """Look at whom it is time to look at, and do what follows."""
        for name in self._watchdog.due(now):
            if name in self._means:
                self._look(name, now)

    def _look(self, name: str, now: float) -> None:
        pid = self._watchdog.watches[name].pid
        is_asked = self._watchdog.is_asked(name)
        found = (
            process_activity.take_closely(pid)
            if is_asked
            else process_activity.take(pid)
        )
        match self._watchdog.looked(name, found, now):
            case Act.ASK:
                self._means[name].ask()
            case Act.REPLACE:
                self._replace(name, pid)
            case _:
                pass

    def _replace(self, name: str, pid: int) -> None:
        means, why = self._means[name], self._watchdog.stalled(name)
        if means.kill is None:
            return
        session = name if name != means.what else ""
        told = replacement(means.what, pid, why, session)
        say("process.replaced", str(told))
        means.kill()
        self._replaced(told)


class Knock:
    """Asks a process that has a socket, by connecting to it: any reply will do.

    Also being hung up on is one: only its loop can do that.
    """

    def __init__(
        self,
        address: Callable[[], str | os.PathLike[str]],
        selector: selectors.BaseSelector,
        answered: Callable[[], None],
    ) -> None:
        self._address = address
        self._selector = selector
        self._answered = answered
        self._link: socket.socket | None = None

    def ask(self) -> None:
        """Connect and ask; an earlier question is taken back."""
        self.end()
        link: socket.socket | None = None
        try:
            link = packets.connect(self._address(), 0)
            packets.send(link, {"do": "status"})
        except OSError:
            # Its queue is full, or it is gone: both are told by other means.
            if link is not None:
                link.close()
            return
        self._link = link
        self._selector.register(link, selectors.EVENT_READ, self._ready)

    def end(self) -> None:
        """Hang up, if there is a link."""
        if self._link is not None:
            self._selector.unregister(self._link)
            self._link.close()
            self._link = None

    def _ready(self, _link: socket.socket, _events: int) -> None:
        self.end()
        self._answered()
