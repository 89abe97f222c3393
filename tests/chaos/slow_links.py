"""A way to the relay that can be slow, cut, or lead nowhere."""

import contextlib
import select
import socket
import threading
import time
from collections import deque

STEP = 0.02
"""Seconds between two looks at what is held back."""


class SlowLinks:
    """Passes every connection on to `target`, a port, as slowly as it is told."""

    def __init__(self) -> None:
        self.target = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        self.name = f"127.0.0.1:{self.port}"
        self.delay = 0.0
        """Seconds that everything takes longer."""

        self.is_cut_off = False
        """Whether nothing passes, and nobody is told."""

        self._links: set[socket.socket] = set()
        self._thread(self._serve)

    def cut(self) -> None:
        """Break every connection that there is now."""
        for link in list(self._links):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Pass nothing on any more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _thread(self, what: object, *arguments: object) -> None:
        threading.Thread(target=what, args=arguments, daemon=True).start()  # type: ignore[arg-type]

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._thread(self._join, near)

    def _join(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            near.close()
            return
        self._links |= {near, far}
        ways = [
            threading.Thread(target=self._pass, args=way, daemon=True)
            for way in ((near, far), (far, near))
        ]
        for way in ways:
            way.start()
        for way in ways:
            way.join()
        self._links -= {near, far}
        near.close()
        far.close()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        """Pass on what comes, each piece not before its time."""
        held: deque[tuple[float, bytes]] = deque()
        with contextlib.suppress(OSError):
            while True:
                wait = STEP if held else 1.0
                if select.select([source], [], [], wait)[0]:
                    data = source.recv(65536)
                    if not data:
                        break
                    held.append((time.monotonic() + self.delay, data))
                while held and not self.is_cut_off and held[0][0] <= time.monotonic():
                    target.sendall(held.popleft()[1])
        for link in (source, target):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
