"""Hashes the memory in an image in a separate process, while CRIU writes it.

Nearly all of an image is the memory of its programs, in files of which CRIU makes
nothing but memory; they are hashed while CRIU restores the tree, which stands still
until that is done. All else is hashed before CRIU sees any of it. In the same way they
are hashed while CRIU writes them.

A process and not a thread: CRIU is forked. It ends with us, because it has the lock
on the image from us.
"""

import hashlib
import os
import re
import select
import signal
from collections.abc import Callable, Iterable, Mapping
from ctypes import c_longlong
from typing import NamedTuple

from holdfast.linux.libc import libc
from holdfast.linux.processes import die_with_parent
from holdfast.model.errors import ImageDamaged

BULK = re.compile(r"criu/pages-[0-9]+\.img")
"""The files that have the memory, and nothing else."""

PIECE = 4 * 1024 * 1024
"""Bytes of such a file that are hashed by themselves, on any processor; its hash is
that of theirs."""

MOST_WORKERS = 4
"""Processes that hash one image: with more, disk or memory is the bound."""

PATIENCE = 300.0
"""Seconds until it has read all: ten times what 1 GB takes on a slow disk."""

STEP = 0.002
"""Seconds between looks at what CRIU has written."""

CHUNK = 1024 * 1024
_FINE = b"+"
_MESSAGE = 4096
_BEGIN = 2
"""SYNC_FILE_RANGE_WRITE."""


def digest_of(pieces: Iterable[bytes]) -> bytes:
    """Return the hash of a file that has memory, by the hashes of its pieces."""
    return hashlib.sha256(b"".join(pieces)).digest()


class BulkCheck:
    """Files that are being hashed."""

    def __init__(
        self, listed: Mapping[str, bytes], hashed: Callable[[str], bytes]
    ) -> None:
        self._reader, writer = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            die_with_parent(parent)
            _compare(writer, listed, hashed)
        os.close(writer)

    def wait(self) -> None:
        """Wait until all is read.

        Raises:
            PeerError: A file is not as it was made.

        """
        if self._pid == 0:
            return
        said = b""
        if select.select([self._reader], [], [], PATIENCE)[0]:
            said = os.read(self._reader, _MESSAGE)
        self.close()
        if said != _FINE:
            why = said.decode("utf-8", "replace") or "it cannot be read"
            raise ImageDamaged(why)

    def close(self) -> None:
        """Let it be, whether it is done or not."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            os.close(self._reader)
            self._pid = 0


def _compare(
    writer: int, listed: Mapping[str, bytes], hashed: Callable[[str], bytes]
) -> None:
    said = b"it cannot be read"
    try:
        changed = [name for name, digest in listed.items() if hashed(name) != digest]
        said = f"{changed[0]} was changed".encode() if changed else _FINE
    except ImageDamaged as error:
        said = str(error.facts["why"]).encode(errors="replace")
    finally:
        os.write(writer, said)
        os._exit(0)


class HashAhead:
    """Hashes what CRIU writes of a tree's memory, while it writes it.

    It appends to these files and does nothing else with them. What was hashed counts
    only for a file that has the same size in the end. With `is_durable` the disk is
    begun to be written meanwhile. There is a process for each processor, which share
    the pieces.
    """

    def __init__(self, folder: str, *, is_durable: bool = False) -> None:
        over, self._over = os.pipe()
        self._workers: dict[int, int] = {}
        parent, count = os.getpid(), min(len(os.sched_getaffinity(0)), MOST_WORKERS)
        for turn in range(count):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                die_with_parent(parent)
                os.close(self._over)
                _follow(folder, over, writer, Share(turn, count, is_durable))
            os.close(writer)
            self._workers[pid] = reader
        os.close(over)

    def finish(self) -> dict[str, tuple[int, bytes]]:
        """Take that nothing more is written; return size and hash of each, by name."""
        os.close(self._over)
        pieces: dict[tuple[str, int], dict[int, bytes]] = {}
        for pid, reader in self._workers.items():
            with os.fdopen(reader, encoding="ascii") as file:
                for line in file:
                    name, size, piece, digest = line.split()
                    found = pieces.setdefault((name, int(size)), {})
                    found[int(piece)] = bytes.fromhex(digest)
            os.waitpid(pid, 0)
        return {
            name: (size, digest_of(found[one] for one in range(count)))
            for (name, size), found in pieces.items()
            if (count := -(-size // PIECE)) <= len(found)
        }

    def close(self) -> None:
        """Let it be: nobody wants to know any more."""
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)
        self.finish()


class Share(NamedTuple):
    """Which pieces of each file one process hashes, as one `among` so many."""

    turn: int
    among: int
    is_durable: bool


def _follow(folder: str, over: int, writer: int, share: Share) -> None:
    """Hash what CRIU writes, until nothing more comes; then say what was found."""
    try:
        files: dict[str, _Followed] = {}
        is_over = False
        while not is_over:
            is_over = bool(select.select([over], [], [], STEP)[0])
            for name in os.listdir(folder):  # noqa: PTH208  # names are all we need
                if name not in files and BULK.fullmatch(f"criu/{name}"):
                    files[name] = _Followed(f"{folder}/{name}", share)
            for one in files.values():
                one.read(is_over=is_over)
        with os.fdopen(writer, "w", encoding="ascii") as file:
            for name, one in files.items():
                for piece, digest in one.pieces.items():
                    file.write(f"criu/{name} {one.size} {piece} {digest.hex()}\n")
    finally:
        os._exit(0)


class _Followed:
    def __init__(self, path: str, share: Share) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._share = share
        self._next = 0
        self._buffer = memoryview(bytearray(CHUNK))
        self.size = 0
        self.pieces: dict[int, bytes] = {}
        """The hashes of those that are ours, by number; of an empty file, one."""

    def read(self, *, is_over: bool) -> None:
        """Hash the pieces that are whole; the last is when nothing more is written."""
        self.size = os.fstat(self._fd).st_size
        while (self._next + 1) * PIECE <= self.size or (
            is_over and self._next * PIECE < max(self.size, 1)
        ):
            if self._next % self._share.among == self._share.turn:
                self.pieces[self._next] = self._hashed(self._next * PIECE)
            self._next += 1

    def _hashed(self, begin: int) -> bytes:
        if self._share.is_durable:
            where = c_longlong(begin), c_longlong(PIECE)
            libc.sync_file_range(self._fd, *where, _BEGIN)
        made, at = hashlib.sha256(), begin
        while at < begin + PIECE and (got := os.preadv(self._fd, [self._buffer], at)):
            made.update(self._buffer[:got])
            at += got
        return made.digest()
