"""The session's output, and how much of it each viewer has seen.

Theory of operation
-------------------
Output is addressed by its offset: bytes since the session's birth. A window, a
ring in memory that is handed in and may outlive the process, keeps the last of
them. Each viewer has a cursor into the one window and no copy of
their own, so a viewer that stops reading costs nothing and delays nobody: it is
skipped forward, with the count of what it missed, when it reads on.

    offset  size  field      native byte order: the memory never leaves the machine
    0       8     magic      written last when a window is made
    8       8     layout     version of this table
    16      8     capacity   bytes in the ring
    24      8     start      first offset that is kept
    32      8     end        offset of the next byte to be printed
    40      8     read       offset after the last byte read from the terminal
    48      16    zero
    64      n     ring       the byte at offset o is at o % capacity

Invariants:

I1  Whenever the writer is killed, between any two stores or in the middle of a
    copy, every byte from `start` to `end` in memory is the byte printed there.
I2  `end` counts every byte ever appended; nothing is dropped without `start`
    rising by exactly as much.
I3  A viewer is given every byte once, in order, or a Skip with the exact count
    of those it is not given.
I4  Nothing a viewer does changes the window or another viewer.

I1 holds because `start` is raised over what will be overwritten before it is
overwritten, `end` is raised after the copy, and each is one store of eight
aligned bytes. Bytes from `end` to `read`, if it is greater, have been read into
the ring but are not part of the stream yet: they may hold a query to be taken
out. A successor finds them there. A process that only reads the memory copies
first and then looks whether `start` is still at or below what it copied.
"""

from dataclasses import dataclass
from typing import Self

import msgspec

from holdfast.model import errors

HEADER = 64
"""Bytes before the ring: one cache line, so that the ring is aligned."""

MAGIC = int.from_bytes(b"hf-strm\0", "little")
LAYOUT = 1
"""Raised with every change of the table above."""

_MAGIC, _LAYOUT, _CAPACITY, _START, _END, _READ = range(6)


class StreamWindow:
    """The last bytes of a session's output. One writer, any number of readers."""

    __slots__ = ("_marks", "_ring", "capacity")

    def __init__(self, memory: memoryview) -> None:
        """Lay the window over `memory` as it is; see `create` and `open`."""
        # A cast view stores a whole word at once; struct would do it bytewise
        # for every format but its native one.
        self._marks = memory[:HEADER].cast("B").cast("Q")
        self._ring = memory[HEADER:].cast("B")
        self.capacity = len(self._ring)

    @classmethod
    def create(cls, memory: memoryview, at: int = 0) -> Self:
        """Make an empty window of all of `memory`, which must exceed HEADER.

        The first byte printed has the offset `at`.
        """
        assert len(memory) > HEADER, "a window needs room for a byte"  # noqa: S101
        window = cls(memory)
        marks = window._marks
        for place in range(len(marks)):
            marks[place] = 0
        marks[_START] = marks[_END] = marks[_READ] = at
        marks[_LAYOUT] = LAYOUT
        marks[_CAPACITY] = window.capacity
        marks[_MAGIC] = MAGIC
        return window

    @classmethod
    def open(cls, memory: memoryview) -> Self:
        """Find again the window that a process, perhaps a dead one, made here.

        Raises:
            PeerError: The memory holds none, or a damaged one.

        """
        if len(memory) <= HEADER:
            raise errors.WindowDamaged("it is too small")
        window = cls(memory)
        marks = window._marks
        if marks[_MAGIC] != MAGIC:
            raise errors.WindowDamaged("it has no mark")
        if marks[_LAYOUT] != LAYOUT:
            raise errors.WindowDamaged("its layout is of another version")
        if marks[_CAPACITY] != window.capacity:
            raise errors.WindowDamaged("its size differs from its header")
        kept_to = max(window.end, marks[_READ])
        if not window.start <= window.end <= kept_to <= window.start + window.capacity:
            raise errors.WindowDamaged("it claims bytes it cannot hold")
        return window

    @property
    def start(self) -> int:
        """Return the offset of the oldest byte that is kept."""
        return self._marks[_START]

    @property
    def end(self) -> int:
        """Return the offset after the newest byte: how many were ever printed."""
        return self._marks[_END]

    def append(self, data: bytes | memoryview) -> None:
        """Keep `data`, at the cost of the oldest bytes if there is no room."""
        capacity = self.capacity
        size = len(data)
        if size > capacity:
            self._append_in_pieces(memoryview(data))
            return
        marks = self._marks
        end = marks[_END]
        after = end + size
        if after - marks[_START] > capacity:
            marks[_START] = after - capacity
        place = end % capacity
        room = capacity - place
        if size <= room:
            self._ring[place : place + size] = data
        else:
            self._ring[place:] = data[:room]
            self._ring[: size - room] = data[room:]
        marks[_END] = after

    # ── bytes that come straight from the terminal ────────────────────────

    def room(self, limit: int) -> memoryview:
        """Return where to read at most `limit` bytes into, in one piece.

        What is overwritten by that is given up here and now.
        """
        marks, capacity = self._marks, self.capacity
        begin = max(marks[_READ], marks[_END])
        place = begin % capacity
        # Half the ring at most: what is kept must not vanish for what may come.
        size = min(limit, capacity - place, max(1, capacity // 2))
        if begin + size - marks[_START] > capacity:
            marks[_START] = begin + size - capacity
        return self._ring[place : place + size]

    def took(self, count: int) -> None:
        """Take note that `count` bytes have been read into `room`."""
        marks = self._marks
        marks[_READ] = max(marks[_READ], marks[_END]) + count

    @property
    def ahead(self) -> bytes:
        """Return what has been read and is not part of the stream yet."""
        end, read = self.end, self._marks[_READ]
        if read <= end:
            return b""
        place, size = end % self.capacity, read - end
        first = bytes(self._ring[place : place + size])
        return first + bytes(self._ring[: size - len(first)])

    def admit(self, count: int) -> None:
        """Make the first `count` bytes that are ahead part of the stream."""
        self._marks[_END] += count

    def replace_ahead(self, visible: bytes, held: bytes) -> None:
        """Put `visible` into the stream and `held` ahead of it, for all that is ahead.

        Killed in here, what was ahead is lost and nothing else.
        """
        self._marks[_READ] = self.end
        self.append(visible)
        while held:
            room = self.room(len(held))
            room[:] = held[: len(room)]
            self.took(len(room))
            held = held[len(room) :]

    # ── reading ───────────────────────────────────────────────────────────

    def read(self, offset: int, limit: int) -> memoryview:
        """Return bytes from `offset` on: at most `limit`, in one piece, no copy.

        Fewer come where the ring wraps, none at the end. The next append may
        write over what was returned: use it or copy it before.

        Raises:
            UsageError: There is no such byte, or not any more.

        """
        start, end = self._marks[_START], self._marks[_END]
        if offset < start:
            raise errors.OffsetGone(offset, start)
        if offset > end:
            raise errors.OffsetAhead(offset, end)
        place = offset % self.capacity
        size = min(limit, end - offset, self.capacity - place)
        return self._ring[place : place + max(size, 0)].toreadonly()

    def since(self, offset: int) -> bytes:
        """Return a copy of all from `offset` on, as far as it is kept."""
        at = min(max(offset, self.start), self.end)
        first = bytes(self.read(at, self.capacity))
        return first + bytes(self.read(at + len(first), self.capacity))

    def _append_in_pieces(self, data: memoryview) -> None:
        # Each piece is an append of its own, so that I1 needs no second proof.
        for first in range(0, len(data), self.capacity):
            self.append(data[first : first + self.capacity])


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on at offset `at`, after `gap` bytes that the reader will never get."""

    at: int
    gap: int


def plan_resume(window: StreamWindow, after: int | None) -> Resume:
    """Decide where a reader goes on that has every byte before `after`.

    None means a reader that has nothing: it is given what is kept, and is owed
    nothing older.

    Raises:
        UsageError: `after` is an offset this session never reached.

    """
    if after is None:
        return Resume(window.start, gap=0)
    if after < 0:
        raise errors.NegativeOffset(after)
    if after > window.end:
        raise errors.OffsetAhead(after, window.end)
    at = max(after, window.start)
    return Resume(at, gap=at - after)


class Send(msgspec.Struct, frozen=True):
    """Send `data`, which begins at `offset`. It holds until the next append."""

    offset: int
    data: memoryview


@dataclass(frozen=True, slots=True)
class Skip:
    """Say that `gap` bytes are left out and that the stream goes on at `at`.

    A Skip is given once; the caller owes it to the reader before anything else.
    """

    gap: int
    at: int


class Viewer:
    """One reader's place in the stream.

    Pull when output came or when the reader's transport takes bytes again, send
    what was pulled, and tell how much the transport accepted.
    """

    __slots__ = ("_offered", "cursor")

    def __init__(self, at: int) -> None:
        self.cursor = at
        """Offset of the next byte to be accepted."""

        self._offered = 0

    def pull(self, window: StreamWindow, limit: int) -> list[Send | Skip]:
        """Return what the reader is to be sent next, at most `limit` bytes of it.

        Bytes are offered again until they are accepted.
        """
        effects: list[Send | Skip] = []
        start, cursor = window.start, self.cursor
        if cursor < start:
            effects.append(Skip(start - cursor, start))
            self.cursor = start
        data = window.read(self.cursor, limit)
        self._offered = len(data)
        if data:
            effects.append(Send(self.cursor, data))
        return effects

    def accepted(self, count: int) -> None:
        """Take note that the transport took `count` of the bytes last pulled."""
        assert 0 <= count <= self._offered, "accepted more than was offered"  # noqa: S101
        self.cursor += count
        self._offered -= count

    def kept_up(self, count: int) -> None:
        """Take note that the transport took all there was, `count` bytes more."""
        self.cursor += count
        self._offered = 0
