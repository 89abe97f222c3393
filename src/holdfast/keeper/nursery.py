"""One nursery: a child of the keeper's that forks holders of one version of the code.

It says `ready` once it has loaded its code, and `forked`, with a pidfd, for each
holder it has forked. What is asked of it before it is ready waits in its socket.
"""

import contextlib
import os
import selectors
import signal
import socket
from collections.abc import Callable

from holdfast.keeper.code import Code
from holdfast.linux import descriptors, packets

Hear = Callable[["Nursery", packets.Packet, list[int]], None]


class Nursery:
    """The process, and the link to it."""

    def __init__(
        self,
        code: Code,
        selector: selectors.BaseSelector,
        hear: Hear,
        ended: Callable[["Nursery"], None],
    ) -> None:
        self.code = code
        self.version = ""
        """What it says its version is; empty until it has."""

        self.waits = False
        """Whether its holders wait for the grip: then they may be made early."""

        self.pings = False
        """Whether it answers when it is asked whether it is there."""

        self.dozes = False
        """Whether its holders take up what dozed, with all that was left."""

        self.pid = 0
        self.link: socket.socket | None = None
        self._selector = selector
        self._hear = hear
        self._ended = ended

    def start(self) -> None:
        """Start it.

        Raises:
            OSError: There is no such interpreter, or no process or descriptor left.

        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            fd = theirs.fileno()
            pid = self.code.start("holdfast.holder.nursery", str(fd), "ready", fd=fd)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        descriptors.give_usual(pid)
        self.take_up(ours, pid)

    def take_up(self, link: socket.socket, pid: int) -> None:
        """Go on with a nursery that runs already."""
        link.settimeout(0)
        self.link, self.pid = link, pid
        self._selector.register(link, selectors.EVENT_READ, self._ready)

    def ask(self, packet: packets.Packet, fds: list[int]) -> bool:
        """Ask for a holder; return False if it cannot be asked now."""
        if self.link is None:
            return False
        try:
            packets.send(self.link, packet, fds)
        except OSError:
            return False
        return True

    def ping(self) -> None:
        """Ping it, unless its version does not know how to answer."""
        if self.pings:
            self.ask({"do": "ping", "pongs": True}, [])

    def end(self) -> None:
        """End it; the holders it has forked live on. Safe to call twice."""
        if self.link is None:
            return
        self._close()
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGTERM)

    def _ready(self, link: socket.socket, _events: int) -> None:
        try:
            heard = packets.receive(link)
        except BlockingIOError:
            return
        if heard is not None:
            self._hear(self, *heard)
            return
        self._close()
        self._ended(self)

    def _close(self) -> None:
        if self.link is not None:
            self._selector.unregister(self.link)
            self.link.close()
            self.link = None
