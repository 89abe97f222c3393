"""The order in which a program reads the answers to its queries.

Theory of operation
-------------------
In the order in which it asked: a program asks for the cursor, then for what
every terminal knows, and takes the second answer as the sign that the first
will not come. Some answers must be fetched; a place is held for each, and what
follows waits behind it until the place is filled or given up.

Invariants:

I1  Answers come out in the order of their queries, each whole and once.
I2  Nothing comes out that stands behind a place that is still held.
I3  No more than MAX_WAITING bytes and MAX_PLACES places are kept; what comes
    when there is no room stays unanswered.
"""

from collections import deque

MAX_WAITING = 64 * 1024
"""Bytes a program has asked for and does not read: eight times the longest
answer; a terminal holds less."""

MAX_PLACES = 32
"""Answers fetched at once: a program that asks for more does not read them."""


class ReplyQueue:
    """What the program is still to read, in order."""

    def __init__(self) -> None:
        self._ready = bytearray()
        self._behind: deque[tuple[int, bytes | None]] = deque()
        """What stands behind a place that is held, that place first."""

        self._places = 0
        self._size = 0

    def add(self, reply: bytes) -> None:
        """Answer the query that was asked last."""
        if self._size + len(reply) > MAX_WAITING:
            return
        self._size += len(reply)
        if self._behind:
            self._behind.append((0, reply))
        else:
            self._ready += reply

    def hold(self) -> int | None:
        """Hold a place for an answer; None if there is no room for it."""
        held = sum(reply is None for _, reply in self._behind)
        if held >= MAX_PLACES:
            return None
        self._places += 1
        self._behind.append((self._places, None))
        return self._places

    def fill(self, place: int, reply: bytes) -> None:
        """Put an answer into its place; an empty one gives it up."""
        for number, (held, _) in enumerate(self._behind):
            if held == place:
                self._size += len(reply)
                self._behind[number] = (0, reply)
        while self._behind and (first := self._behind[0][1]) is not None:
            self._ready += first
            self._behind.popleft()

    def ready(self) -> bytes:
        """Return what the program can be given now."""
        return bytes(self._ready)

    def wrote(self, count: int) -> None:
        """Take note that the first `count` bytes that were ready are given."""
        del self._ready[:count]
        self._size -= count
