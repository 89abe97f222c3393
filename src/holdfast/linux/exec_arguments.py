"""The path and arguments of an exec, read from the waiting process's memory.

Most execs have a short path and few short words. Those are read with two calls, one
for the path and the pointers, one for all words (process_vm_readv). Whatever does not
fit into that, or is not there, is read piece by piece through /proc/PID/mem instead,
which finds out how much of it is known; so does a kernel that has the first call
filtered. Both ways return the same.
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.core.policy.exec_chain import text_of
from holdfast.linux import procfs
from holdfast.linux.libc import libc

MAX_WORDS = 256
"""Words that are read; a policy judges no more of a line."""

MAX_WORD = 4096
"""Bytes of a word or a path that are read: as many as the kernel takes in a path."""

MAX_TEXT = 64 * 1024
"""Bytes of all words together; what is left out is unknown."""

_STEP = 256
"""Bytes read at first: more than most words have, and seldom two pages."""

_PAGE = procfs.PAGE
_WIDE = 8
"""Bytes of a pointer, but for programs of 32 bits."""

_FEW = 32
"""Words of an exec that is read at once; with their NULL, a quarter of a kilobyte."""

_SHORT = 1024
"""Bytes of a word of it, with its NUL. All of them together are below MAX_TEXT."""

_PIECE = struct.Struct("=QQ")
_ROOM = bytearray(_FEW * _SHORT)
_ROOM_ADDRESS = ctypes.addressof(ctypes.c_char.from_buffer(_ROOM))
_LOCAL = ctypes.create_string_buffer(_PIECE.pack(_ROOM_ADDRESS, len(_ROOM)))
_REMOTE = ctypes.create_string_buffer(_PIECE.size * _FEW)

_readv = libc.process_vm_readv
_readv.argtypes = (
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_ulong,
)
_readv.restype = ctypes.c_ssize_t


class Arguments(NamedTuple):
    """What an exec is given; None for what could not be read."""

    path: str | None
    words: tuple[str | None, ...]
    """A last None may stand for several."""


def read_arguments(pid: int, path: int, words: int, width: int) -> Arguments | None:
    """Read a path and words at these addresses; None if nothing can be read at all.

    `width` is that of a pointer.
    """
    if width == _WIDE and path and words:
        found = _at_once(pid, path, words)
        if found is not None:
            return found
    memory = _Memory.of(pid)
    if memory is None:
        return None
    with contextlib.closing(memory):
        return Arguments(memory.text(path), memory.words(words, width))


def _at_once(pid: int, path: int, words: int) -> Arguments | None:
    """Read what is short and whole; None if it is anything else."""
    sizes = _gather(pid, ((path, _SHORT), (words, _FEW * _WIDE)))
    if sizes is None or sizes[1] % _WIDE:
        return None
    start, end = sizes[0], sum(sizes)
    pointers = memoryview(_ROOM)[start:end].cast("Q").tolist()
    stop = _ROOM.find(b"\0", 0, start)
    if stop < 0 or 0 not in pointers:
        return None
    text = text_of(bytes(_ROOM[:stop]))
    found = _short_words(pid, pointers[: pointers.index(0)])
    return None if found is None else Arguments(text, found)


def _short_words(pid: int, pointers: list[int]) -> tuple[str | None, ...] | None:
    sizes = _gather(pid, [(pointer, _SHORT) for pointer in pointers])
    if sizes is None:
        return None
    found, at = [], 0
    for size in sizes:
        end = _ROOM.find(b"\0", at, at + size)
        if end < 0:
            return None
        found.append(text_of(bytes(_ROOM[at:end])))
        at += size
    return tuple(found)


def _gather(pid: int, pieces: Sequence[tuple[int, int]]) -> list[int] | None:
    """Read pieces side by side into the room, none beyond the end of its page.

    Returns their sizes; None if not all of them are there.
    """
    sizes, at = [], 0
    for address, size in pieces:
        # The next page may not be there, which says nothing of this one.
        fits = min(size, _PAGE - address % _PAGE)
        _PIECE.pack_into(_REMOTE, at, address, fits)
        sizes.append(fits)
        at += _PIECE.size
    read = _readv(pid, _LOCAL, 1, _REMOTE, len(sizes), 0)
    return sizes if read == sum(sizes) else None


class _Memory:
    """The memory of another process, read in small pieces."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._left = MAX_TEXT

    @classmethod
    def of(cls, pid: int) -> "_Memory | None":
        try:
            return cls(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return None

    def close(self) -> None:
        os.close(self._fd)

    def text(self, at: int) -> str | None:
        """Return a NUL-terminated text, or None if it cannot be read as one."""
        found = b""
        while at and len(found) < MAX_WORD:
            # Up to the end of a page at most: the next one may not be there.
            size = min(_STEP, _PAGE - at % _PAGE)
            piece = self._read(at, size)
            text, nul, _ = piece.partition(b"\0")
            found += text
            if nul:
                self._left -= len(found)
                return text_of(found)
            if len(piece) < size:
                return None
            at += size
        return None

    def words(self, at: int, width: int) -> tuple[str | None, ...]:
        if not at:
            return ()  # Linux takes no words for an empty one.
        pointers = self._pointers(at, width)
        words: list[str | None] = []
        for pointer in pointers:
            if pointer == 0:
                return tuple(words)
            if len(words) >= MAX_WORDS or self._left <= 0:
                break
            words.append(self.text(pointer))
        return (*words, None)

    def _pointers(self, at: int, width: int) -> tuple[int, ...]:
        size = (MAX_WORDS + 1) * width
        raw = self._read(at, min(size, _PAGE - at % _PAGE))
        if len(raw) == _PAGE - at % _PAGE and len(raw) < size:
            raw += self._read(at + len(raw), size - len(raw))
        count = len(raw) // width
        code = "I" if width == 4 else "Q"  # noqa: PLR2004  # bytes of a pointer
        return struct.unpack_from(f"={count}{code}", raw)

    def _read(self, at: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, at)
        except (OSError, OverflowError):
            return b""
