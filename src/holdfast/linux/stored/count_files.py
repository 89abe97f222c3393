"""The files in which sessions are counted, and what was counted of ended ones.

    counts/SESSION.LAYOUT     the numbers of a session (session_counts.py in core)
    counts/LAYOUT.layout      what those numbers are
    counts/ended              the numbers of sessions that are gone, added up
    counts/lock               held while files are added up, and while all are read

They lie in the folder of sockets: a restart of the machine begins at 0. A file is added
to `ended` in two steps: `ended` is replaced by one that has its numbers and its inode,
and then it is removed. One that is named there counts no more, so that a kill between
the two counts nothing twice.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Collection, Iterator
from operator import add
from typing import NamedTuple

from holdfast.core.telemetry.session_counts import (
    LAYOUT_NAME,
    CountTotals,
    Series,
    layout_from,
    layout_text,
    numbers_from,
)
from holdfast.linux.stored import folders
from holdfast.linux.stored.small_files import read_file, replace_file
from holdfast.model.ids import SessionId

# ruff: noqa: PTH108  # a holder is made without pathlib

MAX_FILE = 1024 * 1024
"""Bytes of any of them; ours have a few thousand."""

MAX_SERIES = MAX_FILE // 8

_LAYOUT = ".layout"
_ENDED = "ended"
_LOCK = "lock"


def folder() -> str:
    """Return where the files are.

    Raises:
        UsageError: The place is not ours.

    """
    return folders.owned(f"{folders.owned(folders.runtime_path())}/counts")


class CountFile:
    """The file of one session, as its holder writes it."""

    def __init__(self, session: SessionId) -> None:
        self._folder = folder()
        self._path = f"{self._folder}/{session}.{LAYOUT_NAME}"
        self._fd: int | None = None

    def read(self) -> bytes:
        """Return what an earlier holder has written; nothing if there was none."""
        try:
            return read_file(self._path, MAX_FILE)
        except OSError:
            return b""

    def write(self, raw: bytes) -> None:
        """Write all numbers over those before.

        Raises:
            OSError: The disk is full, or the folder is gone.

        """
        if self._fd is None:
            self._tell_layout()
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(self._path, flags, 0o600)
        os.pwrite(self._fd, raw, 0)

    def close(self) -> None:
        """Let go of the file; it stays."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _tell_layout(self) -> None:
        path = f"{self._folder}/{LAYOUT_NAME}{_LAYOUT}"
        if not os.path.exists(path):  # noqa: PTH110  # see above
            # Holders that begin at once write the same, under names of their own.
            draft = f"{path}.{os.getpid()}"
            replace_file(draft, layout_text().encode(), is_durable=False)
            os.rename(draft, path)  # noqa: PTH104  # see above


class _File(NamedTuple):
    name: str
    session: str
    layout: str
    inode: int


class _Ended(NamedTuple):
    numbers: dict[str, int]
    added: dict[str, int]
    """Inodes of files whose numbers are in here, by name: they are about to go."""


def totals() -> CountTotals:
    """Return the numbers of all sessions that there are and were.

    Raises:
        UsageError: The place is not ours.
        OSError: It cannot be read.

    """
    place = folder()
    with _locked(place, fcntl.LOCK_SH):
        ended = _read_ended(place)
        files = [one for one in _files(place) if ended.added.get(one.name) != one.inode]
        found = _added_up(place, files)
    layout = layout_from("\n".join(ended.numbers))
    found.take(layout, ended.numbers.values())
    return found


def add_ended(known: Collection[str]) -> int:
    """Add what was counted of sessions that are gone to `ended`; return how many.

    `known` are sessions that there are; one with a socket may be there as well.

    Raises:
        UsageError: The place is not ours.
        OSError: A file cannot be written or removed.

    """
    sockets = folders.sessions_folder()

    def is_gone(session: str) -> bool:
        has_socket = os.path.exists(f"{sockets}/{session}.sock")  # noqa: PTH110  # see above
        return session not in known and not has_socket

    return _add(is_gone)


def add_own(session: SessionId) -> None:
    """Add what was counted of one session to `ended`; nobody counts there any more.

    Raises:
        UsageError: The place is not ours.
        OSError: A file cannot be written or removed.

    """
    _add(lambda one: one == session)


def _add(is_gone: Callable[[str], bool]) -> int:
    place = folder()
    with _locked(place, fcntl.LOCK_EX):
        ended = _read_ended(place)
        _remove(place, ended)
        gone = [one for one in _files(place) if is_gone(one.session)]
        if not gone and not ended.added:
            return 0
        found = _added_up(place, gone)
        layout = layout_from("\n".join(ended.numbers))
        found.take(layout, ended.numbers.values())
        numbers = {
            layout_text([series]).rstrip("\n"): number
            for series, number in found.by_series.items()
            if number
        }
        ended = _Ended(numbers, {one.name: one.inode for one in gone})
        _write_ended(place, ended)
        _remove(place, ended)
        _write_ended(place, ended._replace(added={}))
    return len({one.session for one in gone})


def _files(place: str) -> list[_File]:
    found = []
    with os.scandir(place) as listed:
        for one in listed:
            session, _, layout = one.name.partition(".")
            if session.startswith("s_") and layout.isalnum():
                found.append(_File(one.name, session, layout, one.inode()))
    return found


def _added_up(place: str, files: list[_File]) -> CountTotals:
    layouts: dict[str, tuple[Series, ...]] = {}
    sums: dict[str, list[int]] = {}
    for one in files:
        if one.layout not in layouts:
            layouts[one.layout] = _layout(place, one.layout)
            sums[one.layout] = [0] * len(layouts[one.layout])
        try:
            raw = read_file(f"{place}/{one.name}", MAX_FILE)
        except OSError:
            continue  # It went meanwhile.
        so_far = sums[one.layout]
        sums[one.layout] = [*map(add, so_far, numbers_from(raw, len(so_far)))]
    found = CountTotals()
    for name, layout in layouts.items():
        found.take(layout, sums[name])
    return found


def _layout(place: str, name: str) -> tuple[Series, ...]:
    """Return what the numbers of a layout are; nothing if nobody knows."""
    try:
        told = read_file(f"{place}/{name}{_LAYOUT}", MAX_FILE).decode()
    except (OSError, UnicodeDecodeError):
        return ()
    return layout_from(told)[:MAX_SERIES]


def _read_ended(place: str) -> _Ended:
    """Return what was added up; nothing if that is damaged."""
    try:
        found = json.loads(read_file(f"{place}/{_ENDED}", MAX_FILE))
        return _Ended(
            {str(name): int(number) for name, number in found["numbers"].items()},
            {str(name): int(inode) for name, inode in found["added"].items()},
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return _Ended({}, {})


def _write_ended(place: str, ended: _Ended) -> None:
    raw = json.dumps(ended._asdict()).encode()
    replace_file(f"{place}/{_ENDED}", raw, is_durable=False)


def _remove(place: str, ended: _Ended) -> None:
    for name, inode in ended.added.items():
        path = f"{place}/{name}"
        with contextlib.suppress(FileNotFoundError):
            # A session that came back has another file of that name.
            if os.lstat(path).st_ino == inode:
                os.unlink(path)


@contextlib.contextmanager
def _locked(place: str, how: int) -> Iterator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(f"{place}/{_LOCK}", flags, 0o600)
    try:
        fcntl.flock(fd, how)
        yield
    finally:
        os.close(fd)
