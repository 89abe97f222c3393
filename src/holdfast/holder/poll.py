"""The descriptors a holder waits on, and what is done when one of them is ready.

Thinner than `selectors`: each turn of the loop passes through here, several for a key.

What floods comes last in each turn: a program may print without end, and what an
operator says about that must not wait for it.
"""

import contextlib
import select
from collections.abc import Callable
from socket import socket

Do = Callable[[], object]

_ROOM = select.EPOLLOUT
_ANYTHING_ELSE = ~_ROOM


class Poll:
    """What one holder waits for."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._readers: dict[int, Do] = {}
        self._writers: dict[int, Do] = {}
        self._last = -1
        self.expected: tuple[int, Do, Do] | None = None
        """What is expected next, what is done then, and what if it does not come."""

        self.late: Do | None = None
        """What was put off: done before anything else but the last."""

        self._after_late: list[Do] = []

    def watch(self, what: int | socket, do: Do, *, is_last: bool = False) -> None:
        """Call `do` whenever there is something to read, or an end.

        One of them may be the last to be called in each turn.
        """
        fd = what if isinstance(what, int) else what.fileno()
        self._epoll.register(fd, select.EPOLLIN)
        self._readers[fd] = do
        if is_last:
            self._last = fd

    def watch_room(self, what: int | socket, do: Do | None) -> None:
        """Call `do` too whenever there is room to write; None: no longer."""
        fd = what if isinstance(what, int) else what.fileno()
        if do is None:
            self._writers.pop(fd, None)
            self._epoll.modify(fd, select.EPOLLIN)
        else:
            self._writers[fd] = do
            self._epoll.modify(fd, select.EPOLLIN | select.EPOLLOUT)

    def unwatch(self, what: int | socket) -> None:
        """Stop waiting for it."""
        fd = what if isinstance(what, int) else what.fileno()
        self._readers.pop(fd, None)
        self._writers.pop(fd, None)
        if fd == self._last:
            self._last = -1
        with contextlib.suppress(OSError):  # Its other side may have closed it.
            self._epoll.unregister(fd)

    @property
    def count(self) -> int:
        """How many descriptors are waited on."""
        return len(self._readers)

    def expect(self, what: socket, do: Do, *, otherwise: Do) -> None:
        """Call `do` if this one is ready next, and `otherwise` if another is."""
        self.expected = what.fileno(), do, otherwise

    def follow(self, do: Do) -> None:
        """Call `do` now; if something was put off, after that, and once."""
        if self.late is None:
            do()
        elif do not in self._after_late:
            self._after_late.append(do)

    def interrupt(self) -> None:
        """Do what was put off, and stop expecting: there is something else to do."""
        if self.late is not None:
            do, self.late = self.late, None
            do()
            while self._after_late:
                self._after_late.pop(0)()
        if self.expected is not None:
            (_, _, do), self.expected = self.expected, None
            do()

    def try_last(self) -> bool:
        """Call what comes last without a wait; return whether it found something."""
        do = self._readers.get(self._last)
        return do is not None and bool(do())

    def turn(self, wait: float | None) -> bool:
        """Wait, do what is to be done; return whether anything was."""
        ready = self._epoll.poll(wait)
        if self.expected is not None and ready:
            fd, do, _ = self.expected
            if ready == [(fd, select.EPOLLIN)]:
                self.expected = None
                do()
            else:
                self.interrupt()
                self._do(ready)
        elif self.late is not None and ready == [(self._last, select.EPOLLIN)]:
            self._readers[self._last]()
        elif ready:
            if self.late is not None:
                self.interrupt()
            self._do(ready)
        return bool(ready)

    def _do(self, ready: list[tuple[int, int]]) -> None:
        if len(ready) > 1:
            last = self._last
            ready.sort(key=lambda one: one[0] == last)
        for fd, events in ready:
            # What is done for one may end the wait for another.
            if events & _ROOM and fd in self._writers:
                self._writers[fd]()
            if events & _ANYTHING_ELSE and fd in self._readers:
                self._readers[fd]()

    def close(self) -> None:
        """Wait for nothing any more."""
        self._epoll.close()
