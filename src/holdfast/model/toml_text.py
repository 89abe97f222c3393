"""TOML that people write: what it says, or what is wrong with it and in which line."""

import re
import tomllib
from typing import NamedTuple

from holdfast.model.text import printable

MAX_DOTS = 64
"""Dots in a line. A key of thousands of parts takes the parser minutes."""


class Problem(NamedTuple):
    """One thing that is wrong: in which line, if that is known, where, and what."""

    line: int | None
    where: str
    what: str

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}: "
        where = f"{self.where}: " if self.where else ""
        return f"{line}{where}{self.what}"


def parsed(raw: bytes, limit: int) -> dict[str, object] | Problem:
    """Return the document of a file of at most `limit` bytes, or why it is none."""
    if len(raw) > limit:
        return Problem(None, "", f"it is over {limit} bytes long")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return Problem(line, "", "it is not UTF-8")
    for number, one in enumerate(text.split("\n"), 1):
        if one.count(".") > MAX_DOTS:
            return Problem(number, "", f"it has over {MAX_DOTS} dots in one line")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return _syntax(str(error))


def _syntax(said: str) -> Problem:
    found = re.search(r"\(at line (\d+),", said)
    line = None if found is None else int(found[1])
    return Problem(line, "", f"it is not TOML: {printable(said)}")
