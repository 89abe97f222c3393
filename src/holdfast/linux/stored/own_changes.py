"""The file changes of a session with its own files: listing and applying them.

Read and applied by a child that may open whatever the user owns (own_user). A note in
the session's folder says that changes are being applied: a process that finds it
without a lock knows that another died meanwhile, and finishes by applying once more.
"""

# ruff: noqa: PTH108, PTH110  # plain strings, beside layer_store

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.core.capsule.changes import Change, Facts, Kind, Sort
from holdfast.core.capsule.mount_table import is_in
from holdfast.core.capsule.own_trees import tree_of
from holdfast.linux.stored import layer_store, own_user
from holdfast.linux.stored.layer_apply import apply as apply_to
from holdfast.linux.stored.layer_changes import (
    MAX_CHANGES,
    Walk,
    difference,
    walk,
)
from holdfast.linux.stored.small_files import replace_file
from holdfast.model.errors import FilesBusy, FilesConflict, FilesUnfit, NoOwnFiles
from holdfast.model.ids import SessionId

APPLYING = "applying"
_FORCED = b"forced"


class _Seen(NamedTuple):
    tree: str
    walk: Walk
    changes: list[Change]
    """By paths below the tree."""


AND_MORE = "... and more"
"""The last line of a diff that was cut."""


def changes(session: SessionId, *, since_fork: bool = False) -> tuple[Change, ...]:
    """Return what a session has changed; a branch perhaps only since it began.

    Raises:
        Unavailable: Its layers cannot be read, or there are too many changes.

    """
    stack = layer_store.load(session)

    def work() -> bytes:
        found = _looked(stack, since_fork=since_fork)
        return json.dumps([_told(one) for one in _whole(found)]).encode()

    return tuple(_heard(one) for one in json.loads(_done(work)))


def diff(
    session: SessionId, *, since_fork: bool = False, limit: int = 1024 * 1024
) -> str:
    """Return how the contents of files differ, about `limit` characters of it.

    Raises:
        Unavailable: Its layers cannot be read, or there are too many changes.

    """
    stack = layer_store.load(session)

    def work() -> bytes:
        lines: list[str] = []
        room = limit
        for line in _differences(_looked(stack, since_fork=since_fork)):
            room -= len(line) + 1
            if room < 0:
                lines.append(AND_MORE)
                break
            lines.append(line)
        return json.dumps(lines).encode()

    return "\n".join(json.loads(_done(work)))


def apply(
    session: SessionId, spared: Iterable[str] = (), *, forced: bool = False
) -> tuple[Change, ...]:
    """Make the changes of a session, which must stand still, on the machine's files.

    What lies in a folder that is `spared` is refused. Return what was changed.

    Raises:
        UsageError: Files were changed outside, too, or there is one that is not made.
        Unavailable: They are already being applied, or the disk refuses: what was made
            so far stays, and the rest can be made later.

    """
    stack = layer_store.load(session)
    folder = layer_store.folder_of(session)
    note = f"{folder}/{APPLYING}"
    with alone(folder):
        forced = forced or _was_forced(note)
        found = changes(session)
        _demand_fit(found, tuple(spared))
        _demand_no_conflict(found, forced=forced)
        replace_file(note, _FORCED if forced else b"")

        def work() -> bytes:
            for one in _looked(stack):
                apply_to(one.tree, one.walk, one.changes)
            os.sync()
            return b""

        _done(work)
        os.unlink(note)
    return found


def is_applying(session: SessionId) -> bool:
    """Tell whether changes of a session were applied in part."""
    return os.path.exists(f"{layer_store.folder_of(session)}/{APPLYING}")


def _looked(stack: layer_store.Stack, *, since_fork: bool = False) -> list[_Seen]:
    found, count = [], 0
    began = layer_store.began_ns(stack)
    layered = layer_store.layered(stack)
    # A disk that was gone when the session went on is a folder of the tree around it.
    trees = [one.tree for one in layered if one.is_changed()]
    for one in layered:
        through = walk(one, began, since_fork=since_fork)
        seen = _Seen(one.tree, through, [])
        for change in through.changes():
            count += 1
            if count > MAX_CHANGES:
                raise OSError(0, f"more than {MAX_CHANGES} files are changed")
            # An inner tree has layers of its own.
            if tree_of(f"{one.tree}/{change.path}", trees) == one.tree:
                seen.changes.append(change)
        found.append(seen)
    return found


def _whole(found: Iterable[_Seen]) -> Iterator[Change]:
    for one in found:
        for change in one.changes:
            yield change._replace(path=f"{one.tree}/{change.path}")


def _differences(found: Iterable[_Seen]) -> Iterator[str]:
    for one in found:
        for change in one.changes:
            path = f"{one.tree}/{change.path}"
            below = one.walk.before(change.path)
            now = one.walk.reals.get(change.path, "")
            yield from difference(change._replace(path=path), below, now)


def _demand_fit(found: Iterable[Change], spared: tuple[str, ...]) -> None:
    for one in found:
        if one.now is not None and one.now.sort is Sort.DEVICE:
            raise FilesUnfit(one.path, "it is a device")
        if any(is_in(one.path, folder) for folder in spared):
            raise FilesUnfit(one.path, "it is holdfast's")


def _demand_no_conflict(found: Iterable[Change], *, forced: bool) -> None:
    conflicts = [one.path for one in found if one.is_conflict]
    if conflicts and not forced:
        raise FilesConflict(conflicts[0], len(conflicts))


@contextlib.contextmanager
def alone(folder: str) -> Iterator[None]:
    """Keep others from applying the same changes meanwhile.

    Raises:
        Unavailable: They are already being applied.

    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise FilesBusy from None
    finally:
        os.close(fd)


def _was_forced(note: str) -> bool:
    with contextlib.suppress(OSError), open(note, "rb") as file:  # noqa: PTH123  # as above
        return file.read() == _FORCED
    return False


def _done(work: "own_user.Work") -> bytes:
    try:
        return own_user.call(work)
    except OSError as error:
        raise NoOwnFiles(error.strerror or str(error)) from error


def _told(one: Change) -> list[object]:
    facts = [
        None if told is None else [*told._replace(attributes=())]
        for told in (one.before, one.now)
    ]
    return [one.path, one.kind, *facts, one.is_conflict]


def _heard(said: list[object]) -> Change:
    path, kind, before, now, is_conflict = said
    return Change(
        str(path), Kind(str(kind)), _facts(before), _facts(now), bool(is_conflict)
    )


def _facts(said: object) -> Facts | None:
    if not isinstance(said, list):
        return None
    sort, mode, (uid, gid), size, _, target, changed = said
    return Facts(Sort(sort), mode, (uid, gid), size, (), target, changed)
