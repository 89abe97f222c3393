"""The logbook of this host: every change of policy, operators, keys, invitations.

    CONFIG/host/book.log    the entries (core.book.host_book)
    CONFIG/host/book.head   the newest head, signed by the host
    CONFIG/host/lock        held while an entry is written

Any holdfast process may write to it, one at a time: under the lock the last line is
read, the next is chained to it, made durable and vouched for. What is about to happen
is recorded first. If that fails, it must not happen: the caller gets an error.

An unfinished last line is what a crash leaves, and is cut off. One that can be read
but is not ours, or a logbook that ends before its signed head, was tampered with:
nothing is added to it, so that the evidence is kept. `set_aside` begins another.
"""

# ruff: noqa: PTH104, PTH110  # beside os.open

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Mapping

from holdfast.core.book import host_book
from holdfast.core.book.logbook import MAX_LINE, Entry, EntryKind, Head, can_be_read
from holdfast.core.book.signed_head import SignedHead, sign_head
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import folders
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.small_files import read_file, replace_file, write_all
from holdfast.model.errors import LogbookFailed, LogTampered, PeerError
from holdfast.model.ids import FIRST_INCARNATION, host_id
from holdfast.wire.lines import Value

PATIENCE = 5.0
"""Seconds to wait for others who write: an entry takes a few milliseconds."""

TAIL = 8192
"""Bytes read first to find the last line; most are far shorter."""

QUIET_MS = 10_000
"""Between two refusals on record: who is refused in a loop must not fill the disk."""

_STEP = 0.005


class HostBook:
    """The book, while we alone may write to it."""

    def __init__(self, folder: str) -> None:
        self._signing = SigningKey.from_seed(host_seed())
        self.key = host_book.seal_key(host_seed())
        self.id = host_book.book_of(host_id(self._signing.public))
        self._path = f"{folder}/book.log"
        self._head_path = f"{folder}/book.head"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)
        try:
            self.last = self._find_last()
            self._check_head()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)

    def append(self, kind: EntryKind, fields: Mapping[str, Value]) -> Entry:
        """Add an entry, durable and vouched for.

        Raises:
            Unavailable: It could not be written, and the book is as it was.

        """
        if self.last is None and kind is not EntryKind.OPENED:
            self.append(EntryKind.OPENED, {})
        now_ms = time.time_ns() // 1_000_000
        entry = host_book.draft(self.last, self.id, kind, fields, now_ms, self.key)
        size = os.fstat(self._fd).st_size
        try:
            write_all(self._fd, entry.line + b"\n")
            os.fsync(self._fd)
            self._vouch(entry)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, size)
                os.fsync(self._fd)
            raise LogbookFailed(error.strerror or str(error)) from error
        self.last = entry
        return entry

    def _find_last(self) -> Entry | None:
        size = os.fstat(self._fd).st_size
        line, end = last_line(self._fd, size)
        if line is not None and not can_be_read(line):
            line, end = last_line(self._fd, end - len(line) - 1)
        if end < size:
            os.ftruncate(self._fd, end)
        return None if line is None else self._ours(line)

    def _ours(self, line: bytes) -> Entry:
        entry = host_book.read_last(line, self.key)
        if entry.fields["session"] != self.id:
            raise LogTampered(entry.index, "it is the book of another host")
        return entry

    def _check_head(self) -> None:
        """Refuse to go on with a book that ends before what was vouched for."""
        signed = signed_head(self._head_path)
        index = -1 if self.last is None else self.last.index
        if signed is None:
            if index > 0:
                raise LogTampered(index, "the signed head is gone")
            return
        vouched = signed.receipt.head
        if vouched.session != self.id or not signed.is_genuine():
            raise LogTampered(index, "the signed head is not this host's")
        # One entry may be newer: its writer died before it could sign.
        hashes = {} if self.last is None else _hashes(self.last)
        if vouched.index not in hashes:
            raise LogTampered(index + 1, "entries are missing at the end")
        if vouched.hash.hex() != hashes[vouched.index]:
            raise LogTampered(vouched.index, "the host signed another entry")

    def _vouch(self, entry: Entry) -> None:
        head = Head(self.id, entry.index, entry.hash)
        signed = sign_head(head, FIRST_INCARNATION, self._signing)
        replace_file(self._head_path, signed.to_line() + b"\n")


@contextlib.contextmanager
def writing(patience: float = PATIENCE) -> Iterator[HostBook]:
    """Yield the book with nobody else writing to it.

    Raises:
        Unavailable: It cannot be written, or another process does not finish.
        PeerError: It was changed.

    """
    with contextlib.ExitStack() as stack:
        try:
            folder = host_folder()
            stack.callback(os.close, _locked(f"{folder}/lock", patience))
            book = HostBook(folder)
        except OSError as error:
            raise LogbookFailed(error.strerror or str(error)) from error
        stack.callback(book.close)
        yield book


def record(kind: EntryKind, fields: Mapping[str, Value]) -> Entry:
    """Add one entry; only then may what it says be done.

    Raises:
        Unavailable: It cannot be written.
        PeerError: The book was changed.

    """
    with writing() as book:
        return book.append(kind, fields)


def record_declined(actor: str, request: str, code: str) -> None:
    """Add that something was turned away, unless another refusal just was.

    Raises:
        Unavailable: It cannot be written.
        PeerError: The book was changed.

    """
    with writing() as book:
        last = book.last
        if last is not None and last.kind is EntryKind.DECLINED:
            since_ms = time.time_ns() // 1_000_000 - last.at_wall_ms
            if 0 <= since_ms < QUIET_MS:
                return
        told: dict[str, Value] = {"actor": actor, "request": request, "code": code}
        book.append(EntryKind.DECLINED, {**told, "count": 1})


def is_being_written() -> bool:
    """Tell whether a process is adding an entry."""
    try:
        fd = os.open(f"{host_folder()}/lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def newest(key: bytes) -> Entry | None:
    """Return the last entry, by its seal and without reading the others.

    Raises:
        PeerError: The host did not write it.

    """
    try:
        fd = os.open(book_path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LogTampered(0, error.strerror or str(error)) from error
    try:
        line, end = last_line(fd, os.fstat(fd).st_size)
        if line is not None and not can_be_read(line):
            line, _ = last_line(fd, end - len(line) - 1)
    finally:
        os.close(fd)
    return None if line is None else host_book.read_last(line, key)


def set_aside() -> str | None:
    """Put a book that does not hold together aside; return where it lies now.

    The next entry begins another. No policy is in force until one is applied.
    """
    folder = host_folder()
    lock = _locked(f"{folder}/lock")
    try:
        if not os.path.exists(f"{folder}/book.log"):
            return None
        number = 1
        while os.path.exists(f"{folder}/aside-{number}.log"):
            number += 1
        for name in ("head", "log"):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{folder}/book.{name}", f"{folder}/aside-{number}.{name}")
        for name in ("policy", "policy.next"):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{folder}/{name}", f"{folder}/aside-{number}.{name}")
        return f"{folder}/aside-{number}.log"
    finally:
        os.close(lock)


def host_folder() -> str:
    """Return the folder of the host's book and of the applied policy.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return folders.owned(f"{folders.owned(folders.config_path())}/host")


def book_path() -> str:
    """Return the file of the book."""
    return f"{host_folder()}/book.log"


def head_path() -> str:
    """Return the file of its newest signed head."""
    return f"{host_folder()}/book.head"


def signed_head(path: str) -> SignedHead | None:
    """Return the signed head in a file; None if there is no file.

    Raises:
        PeerError: It is none.

    """
    try:
        raw = read_file(path, TAIL)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LogTampered(0, error.strerror or str(error)) from error
    try:
        return SignedHead.from_line(raw.removesuffix(b"\n"))
    except PeerError:
        raise LogTampered(0, "the signed head cannot be read") from None


def last_line(fd: int, size: int) -> tuple[bytes | None, int]:
    """Return the last whole line before `size`, and where it ends with its newline.

    What follows it is unfinished. Without a whole line that is all of it.
    """
    for length in (TAIL, 2 * MAX_LINE + 2):
        start = max(0, size - length)
        raw = os.pread(fd, size - start, start)
        end = raw.rfind(b"\n")
        begin = raw.rfind(b"\n", 0, end) if end >= 0 else -1
        if end >= 0 and (begin >= 0 or start == 0):
            return raw[begin + 1 : end], start + end + 1
        if start == 0:
            break
    return None, 0


def _hashes(last: Entry) -> dict[int, str]:
    """Return the hash of the last entry, and of the one before it."""
    return {last.index: last.hash.hex(), last.index - 1: str(last.fields["prev"])}


def _locked(path: str, patience: float = PATIENCE) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(fd)
                raise LogbookFailed("another process does not release it") from None
            time.sleep(_STEP)
        else:
            return fd
