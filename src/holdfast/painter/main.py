"""The painter: a process that draws screens and holds nothing of value.

Its standard input is a listening socket; any process with our uid may connect and send
the requests of `holdfast.linux.painter_packets`. It never sees a terminal, a file
or a key. When the emulator crashes, hangs or wants too much memory, the painter dies,
and the next client that connects has another started.

One loop serves all links: a request is short, and is read only when it is its
turn. A client that sends an invalid request, or does not read its answer, loses its
link and nothing else.
"""

import gc
import selectors
import socket
import sys
import time
from collections import deque

from holdfast.linux.packets import is_ours
from holdfast.linux.painter_packets import MAX_DATA, MAX_PACKET, Packet
from holdfast.model.errors import HoldfastError, MalformedMessage, PeerError
from holdfast.model.geometry import Size
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.painter.paintings import Paintings
from holdfast.painter.process_limits import MAX_CPU, MAX_FEED_CPU, confine, cpu_limit

STANDARD_INPUT = 0

REST = 300.0
"""Seconds without a request after which the process ends: what it has painted is
painted again within a moment, and until then its memory is of no use."""

MAX_LINKS = 1000
"""Links at once: one for each session of a full machine."""


class Link:
    """One client, and the part of its answer that it has not read yet."""

    def __init__(self, peer: socket.socket) -> None:
        peer.settimeout(0)
        self.peer = peer
        self._answer: deque[bytes] = deque()

    def serve(self, easel: Paintings) -> None:
        """Take one request, if there is one, and answer it.

        Raises:
            PeerError: It is none.
            OSError: The other side is gone.

        """
        if not self.is_answering:
            raw = self.peer.recv(MAX_PACKET + 1)
            if not raw:
                raise ConnectionResetError
            if len(raw) > MAX_PACKET:
                raise MalformedMessage("packet", "it is too long")
            request = Packet.from_bytes(raw)
            is_feed = request.header.get("do") == "feed"
            with cpu_limit(MAX_FEED_CPU if is_feed else MAX_CPU):
                answer = _answered(easel, request)
            self._answer.extend(_parts(answer))
        self._send()

    @property
    def is_answering(self) -> bool:
        """Whether part of an answer waits to be taken."""
        return bool(self._answer)

    def _send(self) -> None:
        while self._answer:
            try:
                self.peer.send(self._answer[0])
            except BlockingIOError:
                return
            self._answer.popleft()


class Painter:
    """The loop of the process."""

    def __init__(
        self, listener: socket.socket, easel: Paintings, *, rest: float = REST
    ) -> None:
        self._listener = listener
        self._easel = easel
        self._rest = rest
        self._selector = selectors.DefaultSelector()
        self._links = 0
        listener.settimeout(0)
        self._selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until nobody has asked for anything for long."""
        idle_at = time.monotonic() + self._rest
        while (left := idle_at - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if key.data is None:
                    self._accept()
                else:
                    self._serve(key.data)
                idle_at = time.monotonic() + self._rest

    def _accept(self) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError:
            return  # It has gone again, or there is no descriptor left for it.
        if self._links >= MAX_LINKS or not is_ours(peer):
            peer.close()
            return
        self._links += 1
        self._selector.register(peer, selectors.EVENT_READ, Link(peer))

    def _serve(self, link: Link) -> None:
        try:
            link.serve(self._easel)
        except BlockingIOError:
            pass
        except (PeerError, OSError):
            self._selector.unregister(link.peer)
            link.peer.close()
            self._links -= 1
            return
        wanted = selectors.EVENT_WRITE if link.is_answering else selectors.EVENT_READ
        self._selector.modify(link.peer, wanted, link)


def main() -> int:
    """Run the process, and return its exit status."""
    listener = socket.socket(fileno=STANDARD_INPUT)
    confine()
    _warm_up()
    gc.freeze()  # what was loaded stays: looking through it again costs time
    Painter(listener, Paintings(GhosttyEmulator)).run()
    return 0


def _warm_up() -> None:
    # The library's types are read when first used, which takes a fifth of a
    # second: it would count against the first request's limit of CPU.
    emulator = GhosttyEmulator(Size(2, 2))
    emulator.feed("\x1b[44m\x1b[2J\x1b[?6h漢".encode())
    emulator.keyframe()
    emulator.screen()
    emulator.hidden()
    emulator.close()


def _answered(easel: Paintings, request: Packet) -> Packet:
    try:
        return easel.handle(request)
    except PeerError:
        raise
    except HoldfastError as error:
        said = {"code": error.code, "text": str(error), "facts": error.facts}
        return Packet({"ok": False, **said})


def _parts(answer: Packet) -> list[bytes]:
    data = answer.data
    starts = range(0, len(data), MAX_DATA) or [0]
    last = starts[-1]
    return [
        Packet(
            {**answer.header, "more": start != last}, data[start : start + MAX_DATA]
        ).to_bytes()
        for start in starts
    ]


if __name__ == "__main__":
    sys.exit(main())
