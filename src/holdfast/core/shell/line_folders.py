"""The folders in which the next command of a line may run.

`cd src && make` runs `make` in `src`, and `cd src; make` runs it there or, if there is
no such folder, where it was before. Each command leads to the folders in which the
shell may be if it succeeds and if it fails; how commands are joined tells which of
them the next one may run in. Paths are kept as they are written, from where the line
begins; what looks a folder up in another way (`cd`, `cd -`, `cd ..` through a link,
`pushd`, an unknown word) leads anywhere, which is an empty tuple.
"""

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.core.shell.shell_grammar import Grammar

ANYWHERE: tuple[str, ...] = ()
"""No folder is known."""

MAX_FOLDERS = 4
"""Folders in which one command may run; with more, nobody can tell."""

_MOVERS = frozenset(
    {
        *("-", ".", "alias", "autoload", "begin", "builtin", "cd", "chdir"),
        *("cdh", "command", "dirh", "eval", "exec", "nextd", "nocorrect", "noglob"),
        *("popd", "prevd", "pushd", "source", "time", "trap", "z"),
    }
)
"""Words after which the shell may be in another folder."""


class Outcome(NamedTuple):
    """Where the shell may be after a command that succeeded, or failed."""

    yes: tuple[str, ...]
    no: tuple[str, ...]

    @property
    def either(self) -> tuple[str, ...]:
        """Where it may be, however the command ended."""
        return united(self.yes, self.no)


def still(here: tuple[str, ...]) -> Outcome:
    """Return what comes of a command that stays where it is."""
    return Outcome(here, here)


def united(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders of both; anywhere, if one of them is anywhere."""
    if not one or not other:
        return ANYWHERE
    folders = tuple(dict.fromkeys((*one, *other)))
    return ANYWHERE if len(folders) > MAX_FOLDERS else folders


def led(
    words: Sequence[str | None], here: tuple[str, ...], grammar: Grammar
) -> Outcome:
    """Return where a command leads that is begun `here`."""
    if not words:
        return still(here)
    first = words[0]
    if first is None or first in _MOVERS or _is_folder(first, grammar):
        target = words[1] if first == "cd" and len(words) == len("cd") else None
        if target is None or not _is_plain(target):
            return still(ANYWHERE)
        return Outcome(tuple(_joined(folder, target) for folder in here), here)
    return still(here)


def _is_folder(first: str, grammar: Grammar) -> bool:
    """Tell whether a shell may take a command for a folder to change to."""
    if first.endswith("/") or not first.strip("./"):
        return True
    return grammar is Grammar.FISH and first.startswith(("/", "./", "../", "~"))


def _is_plain(target: str) -> bool:
    parts = target.split("/")
    return bool(target) and target[0] not in "-+~" and ".." not in parts


def _joined(folder: str, target: str) -> str:
    return target if target.startswith("/") or not folder else f"{folder}/{target}"
