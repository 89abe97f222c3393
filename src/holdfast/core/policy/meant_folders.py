"""The folders that a rule means, and whether a path is in them.

Theory of operation
-------------------
A folder is written as an absolute path or from the home folder on (`~`), with
wildcards if need be; it means itself and everything in it. `!` excepts one. Paths
that are held against it are those that are left when every link was followed.

    has      the path lies in a folder that is meant, and in none that is excepted
    covers   the same, and no folder that is excepted lies in the path: a program may
             go through everything that is below a folder it is given

An exception that begins with a wildcard lies nowhere in particular, and is looked for
in the path alone. The home folder may be unknown; then what is written from it on may
lie anywhere.

Invariants, checked by tests/core/policy/test_meant_folders.py:

I1  What is covered is had.
I2  Another exception never makes a path one that is had, or covered.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from holdfast.core.policy.command_words import Match
from holdfast.core.shell.globs import Globs

HOME = "~"
"""Stands for the home folder, at the beginning of a path."""

_WILD = "*?\\"


@dataclass(frozen=True, slots=True)
class MeantFolders:
    """Folders that are meant, and those that are excepted."""

    meant: tuple[str, ...]
    """With none, everything is meant that is not excepted."""

    excepted: tuple[str, ...] = ()
    _meant: Globs = field(init=False, repr=False, compare=False)
    _excepted: Globs = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_meant", Globs.of(self.meant))
        object.__setattr__(self, "_excepted", Globs.of(self.excepted))

    def has(self, path: str, home: str | None) -> Match:
        """Tell whether a path lies in what is meant."""
        if home is None and self._needs_home:
            return Match.MAYBE
        ways = [*_ways(path, home)]
        if any(map(self._excepted.fit, ways)):
            return Match.NO
        is_meant = not self.meant or any(map(self._meant.fit, ways))
        return Match.YES if is_meant else Match.NO

    def covers(self, path: str, home: str | None) -> Match:
        """Tell whether a folder is meant with everything in it."""
        found = self.has(path, home)
        if found is Match.YES and _holds_some(path, self.excepted, home):
            return Match.NO
        return found

    def meets(self, path: str, home: str | None) -> Match:
        """Tell whether a path is meant, or contains something that is."""
        found = self.has(path, home)
        if found is Match.NO and _holds_some(path, self.meant, home):
            return Match.YES
        return found

    @property
    def _needs_home(self) -> bool:
        return any(one.startswith(HOME) for one in (*self.meant, *self.excepted))


def lies_in(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return folder in ("/", path) or path.startswith(folder + "/")


def _ways(path: str, home: str | None) -> Iterator[str]:
    """Yield a path and all folders it lies in, each also as seen from home."""
    parts = [part for part in path.split("/") if part]
    for count in range(len(parts) + 1):
        folder = "/" + "/".join(parts[:count])
        yield folder
        if home is not None and lies_in(folder, home):
            yield HOME + folder[len(home) :]


def _holds_some(path: str, patterns: Iterable[str], home: str | None) -> bool:
    """Tell whether what one of the patterns stands for may lie in a path."""
    return any(lies_in(fixed, path) for one in patterns if (fixed := _fixed(one, home)))


def _fixed(pattern: str, home: str | None) -> str:
    """Return the folder in which everything lies that fits; empty if there is none."""
    first = min((pattern.find(one) for one in _WILD if one in pattern), default=None)
    fixed = pattern if first is None else pattern[:first].rpartition("/")[0]
    if fixed.startswith(HOME) and home is not None:
        fixed = home + fixed[len(HOME) :]
    return fixed if fixed or first is None else _root(pattern)


def _root(pattern: str) -> str:
    return "/" if pattern.startswith("/") else ""
