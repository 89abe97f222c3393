"""Every link to a client or a holder, and what waits to be sent on it.

Nobody makes the keeper wait: what a slow reader does not take is kept here, up
to a bound, and a peer over the bound is disconnected.
"""

import json
import selectors
import socket
from collections import deque
from collections.abc import Callable, Iterator

from holdfast.linux import descriptors, packets

MAX_WAITING = 8 * 1024 * 1024
"""Bytes kept for one reader: a list of five thousand sessions with long commands."""

Hear = Callable[[socket.socket, packets.Packet, list[int]], None]


class Links:
    """The open links."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        hear: Hear,
        ended: Callable[[socket.socket], None],
    ) -> None:
        self._selector = selector
        self._hear = hear
        self._ended = ended
        self._waiting: dict[socket.socket, deque[bytes]] = {}
        self._spare = descriptors.Spare()

    def __iter__(self) -> Iterator[socket.socket]:
        """Go through the open links."""
        return iter(list(self._waiting))

    def __contains__(self, link: object) -> bool:
        """Tell whether a link is open."""
        return link in self._waiting

    @property
    def is_silent(self) -> bool:
        """Whether everything has been sent."""
        return not any(self._waiting.values())

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection of our own user."""
        try:
            link, _ = listener.accept()
        except BlockingIOError:
            return
        except OSError:
            self._spare.hang_up(listener)  # There is no descriptor left.
            return
        if packets.is_ours(link):
            self.add(link)
        else:
            link.close()

    def add(self, link: socket.socket) -> None:
        """Listen to a link."""
        link.settimeout(0)
        self._waiting[link] = deque()
        self._selector.register(link, selectors.EVENT_READ, self._ready)

    def send(self, link: socket.socket, packet: packets.Packet) -> None:
        """Send a packet as soon as the other takes it; its end is noticed later."""
        waiting = self._waiting.get(link)
        if waiting is None:
            return
        waiting.append(json.dumps(packet).encode())
        if len(waiting) == 1:
            self._flush(link)
        if sum(map(len, waiting)) > MAX_WAITING:
            self.close(link)

    def close(self, link: socket.socket) -> None:
        """Hang up; safe to call twice."""
        if self._waiting.pop(link, None) is None:
            return
        self._selector.unregister(link)
        link.close()
        self._ended(link)

    def _ready(self, link: socket.socket, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._flush(link)
        if not events & selectors.EVENT_READ or link not in self._waiting:
            return
        try:
            heard = packets.receive(link)
        except BlockingIOError:
            return
        if heard is None:
            self.close(link)
        else:
            self._hear(link, *heard)

    def _flush(self, link: socket.socket) -> None:
        waiting = self._waiting[link]
        try:
            while waiting:
                link.send(waiting[0])
                waiting.popleft()
        except BlockingIOError:
            pass
        except OSError:
            waiting.clear()  # It is gone: reading will say so.
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if waiting else 0)
        if self._selector.get_key(link).events != wanted:
            self._selector.modify(link, wanted, self._ready)
