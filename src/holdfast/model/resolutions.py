"""What a command would run now, and who staged that.

A word at a prompt means what the shell makes of it *now*: an alias, a function, a
file that a folder of PATH has. Each step from the word to what runs is a Link;
everything on the way that was set up during this session is a Staging,
with those who did. What cannot be told is a doubt, and never a guess.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.model.ids import ActorId
from holdfast.model.text import printable

MAX_SHOWN = 200
"""Characters shown of a name or of an alias."""

SHOWN_DIGEST = 12
"""Hexadecimal digits shown of a digest: enough to compare by eye."""


class Sort(enum.StrEnum):
    """What a word turned out to be."""

    ALIAS = "alias"
    KEYWORD = "keyword"
    FUNCTION = "function"
    BUILTIN = "builtin"
    PROGRAM = "program"
    SCRIPT = "script"
    UNKNOWN = "unknown"


class Thing(enum.StrEnum):
    """What can be staged for others."""

    LINE = "line"
    ALIAS = "alias"
    FUNCTION = "function"
    VARIABLE = "variable"
    PATH_ENTRY = "path-entry"
    FILE = "file"
    FOLDER = "folder"
    """The folder that the shell works in."""


@dataclass(frozen=True, slots=True)
class Link:
    """One step from a word to what runs."""

    sort: Sort
    name: str
    """The word; of a program or a script, its path."""

    digest: bytes = b""
    """Of its content; empty if that is not known."""

    text: str = ""
    """What an alias stands for."""


@dataclass(frozen=True, slots=True)
class Staging:
    """Something that a command uses and that was put there in this session."""

    what: Thing
    name: str
    by: tuple[ActorId, ...]
    """Who entered the command that did it, and who typed that."""

    command: int = 0
    """The number of that command; 0 if it was none, or is not known."""

    is_known: bool = True
    """Whether nobody else can have done it."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What one command runs, what that uses, and what could not be told."""

    links: tuple[Link, ...] = ()
    staged: tuple[Staging, ...] = ()
    doubt: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The programs and scripts that run."""
        files = (Sort.PROGRAM, Sort.SCRIPT)
        return tuple(link.name for link in self.links if link.sort in files)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What each command of a line runs, in the order of the line."""

    commands: tuple[Resolved, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that change what programs do, as they are now."""

    @property
    def staged(self) -> tuple[Staging, ...]:
        """Everything that the line uses and that was staged, each once."""
        found = (one for command in self.commands for one in command.staged)
        return tuple(dict.fromkeys(found))

    def originators(self) -> tuple[ActorId, ...]:
        """Return all operators who staged something that the line uses."""
        return distinct(one for staging in self.staged for one in staging.by)

    def shown(self) -> str:
        """Return what the commands come to, as people read it, safe to print."""
        return "; ".join(_shown(one) for one in self.commands if one != Resolved())

    def to_object(self) -> dict[str, object]:
        """Return it as plain JSON: docs/spec/policy.md, section 6."""
        return {
            "commands": [_command(one) for one in self.commands],
            "environment": dict(self.environment),
        }


def distinct(actors: Iterable[ActorId]) -> tuple[ActorId, ...]:
    """Return the items in order, without repeats."""
    return tuple(dict.fromkeys(actors))


def _shown(resolved: Resolved) -> str:
    steps = [_step(link) for link in resolved.links]
    if resolved.doubt:
        steps.append(f"and what cannot be told: {printable(resolved.doubt)}")
    return ", ".join(steps)


def _step(link: Link) -> str:
    name = printable(link.name, MAX_SHOWN)
    if link.sort is Sort.ALIAS:
        return f"alias {name} ({printable(link.text, MAX_SHOWN)})"
    if link.sort in (Sort.PROGRAM, Sort.SCRIPT):
        digest = f" {link.digest.hex()[:SHOWN_DIGEST]}" if link.digest else ""
        return f"{name}{digest}"
    return f"{link.sort.value} {name}"


def _command(resolved: Resolved) -> dict[str, object]:
    return {
        "links": [
            {
                "sort": link.sort.value,
                "name": link.name,
                "digest": link.digest.hex() or None,
                "text": link.text or None,
            }
            for link in resolved.links
        ],
        "staged": [
            {
                "what": one.what.value,
                "name": one.name,
                "by": list(one.by),
                "command": one.command,
                "known": one.is_known,
            }
            for one in resolved.staged
        ],
        "doubt": resolved.doubt or None,
    }
