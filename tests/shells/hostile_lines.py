"""The table of hostile lines, and how a reading is written in it."""

import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path

from holdfast.core.shell.shell_grammar import KNOWN, Grammar
from holdfast.core.shell.simple_command import HERE, Command, Redirection, Way

Reading = list[str] | str
UNDECIDABLE = "undecidable"

_ROWS = tomllib.loads(
    (Path(__file__).parent / "hostile_lines.toml").read_text("utf-8")
)["line"]

_SIGNS = {
    Way.READ: "<",
    Way.WRITE: ">",
    Way.APPEND: ">>",
    Way.BOTH: "<>",
    Way.DUPLICATE: ">&",
    Way.TEXT: "<<<",
    Way.DOCUMENT: "<<",
}


def table() -> list[tuple[str, Grammar, Reading]]:
    """Return every line with each shell and how that reads it."""
    return [
        (row["text"], grammar, row.get(grammar.value, row.get("all")))
        for row in _ROWS
        for grammar in KNOWN
    ]


def shown(commands: Sequence[Command]) -> Reading:
    """Return a reading as the table has it."""
    if commands[0].doubt:
        return UNDECIDABLE
    return [_shown(command) for command in commands]


def _shown(command: Command) -> str:
    folders = [f"@{folder or '.'}" for folder in command.folders] or ["@?"]
    return " ".join(
        [
            *(f"{one.name}={one.value}" for one in command.assignments),
            *("…" if word is None else shlex.quote(word) for word in command.words),
            *map(_redirected, command.redirections),
            *([] if command.folders == HERE else folders),
        ]
    )


def _redirected(one: Redirection) -> str:
    target = one.target or ""
    shown = shlex.quote(target) if one.way is Way.DOCUMENT else target
    return f"{_SIGNS[one.way]}{shown}"
