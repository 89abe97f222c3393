"""A session's changes, found by comparing its layers with the machine's files.

To be run with the right to read all of them: see own_user.
"""

# ruff: noqa: PTH123  # names may be any bytes; plain strings

import contextlib
import difflib
import os
from collections.abc import Iterable, Iterator

from holdfast.core.capsule.changes import Change, Sort, judge
from holdfast.linux.capsule.overlays import Layered
from holdfast.linux.stored.layer_tree import (
    Folder,
    Found,
    is_opaque,
    real_folders,
)

MAX_CHANGES = 100_000
"""Paths that are listed; a session that has changed more is not looked through."""

MAX_DIFF = 1024 * 1024
"""Bytes of a file of which the difference is shown."""

MAX_LINES = 2000
"""Lines of one file's difference."""

_PIECE = 1024 * 1024
_NOTHING = "/dev/null"
"""What `diff` calls a file that is not there."""


class Walk:
    """One look through the layers of one tree."""

    def __init__(self, base: Folder, layers: tuple[str, ...], began_ns: int) -> None:
        """Compare `base` with what it is under these layers, the top one first."""
        self.links: dict[tuple[int, int], list[str]] = {}
        """Paths that are names of one file now, if it has several."""

        self.reals: dict[str, str] = {}
        """Where what is at a path now really is."""

        self._base = base
        self._layers = layers
        self._began_ns = began_ns

    def before(self, path: str) -> str:
        """Return where what is at a path without the layers really is."""
        *folders, name = path.split("/")
        folder = self._base
        for one in folders:
            folder = folder.enter(one)
        found = folder.look(name)
        return "" if found is None else found.real

    def changes(self) -> Iterator[Change]:
        """Yield them, by paths below the tree."""
        now = Folder((*self._layers, *self._base.parts))
        yield from self._in("", self._base, now, self._layers, is_whole=False)

    def _in(
        self,
        above: str,
        base: Folder,
        now: Folder,
        touched: tuple[str, ...],
        *,
        is_whole: bool,
    ) -> Iterator[Change]:
        names = {name for one in touched for name in os.listdir(one)}  # noqa: PTH208  # any bytes
        for name in sorted(names | base.names() if is_whole else names):
            path = f"{above}{name}"
            before, after = base.look(name), now.look(name)
            self._note(path, after)
            change = judge(
                path,
                None if before is None else before.facts,
                None if after is None else after.facts,
                self._began_ns,
                is_same_content=_is_same(before, after),
            )
            if change is not None:
                yield change
            if not (_is_folder(before) or _is_folder(after)):
                continue
            inner = real_folders(touched, name)
            is_new = not (_is_folder(before) and _is_folder(after))
            yield from self._in(
                f"{path}/",
                base.enter(name),
                now.enter(name),
                inner,
                is_whole=is_whole or is_new or any(map(is_opaque, inner)),
            )

    def _note(self, path: str, found: Found | None) -> None:
        if found is None:
            return
        self.reals[path] = found.real
        if found.facts.sort is Sort.FILE and found.links > 1:
            self.links.setdefault(found.inode, []).append(path)


def walk(one: Layered, began_ns: int, *, since_fork: bool = False) -> Walk:
    """Look through the layers of a tree; with `since_fork` the last one alone."""
    sealed = one.lowers[::-1]
    if since_fork:
        return Walk(Folder((*sealed, one.tree)), (one.upper,), began_ns)
    return Walk(Folder((one.tree,)), (one.upper, *sealed), began_ns)


def difference(change: Change, before: str, now: str) -> Iterable[str]:
    """Yield the lines in which a file differs, as `diff -u` has them.

    `before` and `now` are where its contents are.
    """
    if Sort.FILE not in {
        told.sort for told in (change.before, change.now) if told is not None
    }:
        return
    path = change.path
    old, new = _text(before, change.before), _text(now, change.now)
    if old is None or new is None:
        yield f"Binary or large file {path} was {change.kind.value}"
        return
    heads = [_NOTHING if told is None else path for told in (change.before, change.now)]
    lines = difflib.unified_diff(old, new, heads[0], heads[1], lineterm="")
    for count, line in enumerate(lines):
        if count == MAX_LINES:
            yield "... and more"
            return
        yield line


def _text(path: str, told: object) -> list[str] | None:
    """Return the lines of a text; None if it is none, or too long."""
    if told is None:
        return []
    with contextlib.suppress(OSError), open(path, "rb") as file:
        raw = file.read(MAX_DIFF + 1)
        if len(raw) > MAX_DIFF or b"\0" in raw:
            return None
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode().splitlines()
    return None


def _is_folder(found: Found | None) -> bool:
    return found is not None and found.facts.sort is Sort.FOLDER


def _is_same(before: Found | None, after: Found | None) -> bool:
    if before is None or after is None or before.facts.size != after.facts.size:
        return False
    if {before.facts.sort, after.facts.sort} != {Sort.FILE}:
        return False
    if before.inode == after.inode:
        return True
    with (
        contextlib.suppress(OSError),
        open(before.real, "rb") as one,
        open(after.real, "rb") as other,
    ):
        while piece := one.read(_PIECE):
            if piece != other.read(_PIECE):
                return False
        return True
    return False  # What we cannot read is not known to be the same.
