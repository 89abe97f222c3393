"""Watches the descriptors of sessions that doze, and reads nothing from them."""

import os
import selectors
import stat
from collections.abc import Callable
from functools import partial

from holdfast.keeper.trustee import Trust
from holdfast.keeper.vault import LEADER, LISTENER, TERMINAL


class Watch:
    """The descriptors of sessions that doze, in one selector."""

    def __init__(self, trust: Trust, woke: Callable[[str], None]) -> None:
        self.trust = trust
        self.selector = selectors.DefaultSelector()
        self._woke = woke
        self._watched: dict[str, list[int]] = {}

    def begin(self, session: str) -> None:
        """Watch a session that dozes, and report what happens in it."""
        self.end(session)
        copy = self.trust.copies.get(session)
        if copy is None or len(copy.fds) <= LEADER:
            return
        # Of one that is over, all has been read but what clients may ask.
        is_over = copy.facts.get("state") == "exited"
        places = (LISTENER,) if is_over else (LISTENER, TERMINAL, LEADER)
        # A shell that reports its state may block until that is read.
        pipes = [fd for fd in copy.fds[LEADER + 1 :] if _is_pipe(fd)]
        self._watched[session] = [copy.fds[place] for place in places]
        self._watched[session] += [] if is_over else pipes
        for fd in self._watched[session]:
            woke = partial(self._wake, session)
            self.selector.register(fd, selectors.EVENT_READ, woke)

    def end(self, session: str) -> None:
        """Watch a session no more; always before its descriptors are closed.

        Others have them too, so the kernel would go on telling of them.
        """
        for fd in self._watched.pop(session, []):
            self.selector.unregister(fd)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until something happens, and pass it on."""
        for key, events in self.selector.select(timeout):
            found = self.selector.get_map().get(key.fd)
            # One whose session was dealt with by another event is not asked.
            if found is not None and found.data is key.data:
                key.data(key.fileobj, events)

    def _wake(self, session: str, _found: object, _events: int) -> None:
        self.end(session)
        self._woke(session)


def _is_pipe(fd: int) -> bool:
    return stat.S_ISFIFO(os.fstat(fd).st_mode)
