"""The command of a new session, as people read it and approvals are bound to it.

A start is written as what a person would type for it: the folder, what is set for
the command, the command. Variables that decide what programs do are shown with their
values, all others by name alone, since many a secret is a variable. A digest of the
whole environment binds an approval to what is not shown.

I1  Two starts with another folder, command or environment are different texts.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.core.provenance.line_resolution import changes_meaning
from holdfast.core.shell.shell_state import matters

MAX_LINE = 16 * 1024
"""Characters of a line; nobody reads more, and the digest is of all of it."""

MAX_VALUE = 200
"""Characters shown of a variable's value."""

MAX_NAMED = 16
"""Variables that are named of those whose values are not shown."""

DIGEST = 16
"""Bytes kept of a digest of an environment."""

_PLAIN = re.compile(r"TERM|COLORTERM|LANG|LC_[A-Z]+|COLUMNS|LINES")
"""Variables that say what a terminal can do, and nothing else."""

_PLAIN_VALUE = re.compile(r"[A-Za-z0-9._@:+-]{0,64}")


@dataclass(frozen=True, slots=True)
class Start:
    """What a session is to begin with."""

    words: tuple[str, ...]
    cwd: str
    variables: tuple[str, ...]
    """What is set beyond what the host has set, as NAME=VALUE or NAME."""

    environment: str
    """The digest of all of it."""

    def text(self) -> bytes:
        """Return it as a line, which is what is approved and kept."""
        shown = [one for one in self.variables if "=" in one]
        named = [one for one in self.variables if "=" not in one]
        parts = [*map(_assigned, shown), shlex.join(self.words)]
        also = f", with {', '.join(named[:MAX_NAMED])}" if named else ""
        more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
        line = f"cd {shlex.quote(self.cwd)} && {' '.join(parts)}"
        if len(line) > MAX_LINE:
            whole = hashlib.sha256(line.encode("utf-8", "replace")).digest()
            line = f"{line[:MAX_LINE]}…  # in all {whole[:DIGEST].hex()}"
        return f"{line}  # environment {self.environment}{also}{more}".encode(
            "utf-8", "replace"
        )


def start_of(
    words: Sequence[str],
    cwd: str,
    environment: Mapping[str, str],
    ground: Mapping[str, str],
) -> Start:
    """Return a start in `environment` on a host whose own is `ground`."""
    written = json.dumps(dict(environment), sort_keys=True).encode()
    digest = hashlib.sha256(written).digest()[:DIGEST].hex()
    given = [
        _shown(name, value)
        for name, value in sorted(environment.items())
        if ground.get(name) != value and not _is_plain(name, value)
    ]
    return Start(tuple(words), cwd, tuple(given), digest)


def _is_plain(name: str, value: str) -> bool:
    is_known = _PLAIN.fullmatch(name) is not None
    return is_known and _PLAIN_VALUE.fullmatch(value) is not None


def _shown(name: str, value: str) -> str:
    is_telling = matters(name) or changes_meaning(name)
    return f"{name}={value[:MAX_VALUE]}" if is_telling else name


def _assigned(variable: str) -> str:
    name, _, value = variable.partition("=")
    return f"{name}={shlex.quote(value)}"
