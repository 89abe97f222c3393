r"""Glob matching in time that hostile text cannot stretch.

    *     any characters, also none        ?    exactly one
    \*    a star    \?    a question mark    \\    a backslash

Nothing else is special, and a pattern always fits the whole text. Each star
takes the nearest place where what follows it fits and never looks back, which
is enough for patterns of this kind: the work is at most the length of the text
times that of the pattern, whatever both hold. Regular expressions are not
offered in rules, because some take minutes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Self

MAX_PATTERN = 128
"""Characters in a pattern: any word people write, and most paths."""

MAX_TEXT = 1024
"""Characters a pattern with a wildcard is held against; no longer text fits one."""

_PIECE = re.compile(r"\\([*?\\])|([*?])|([^*?\\]+)", re.DOTALL)


def fault_of(pattern: str) -> str | None:
    """Return what is wrong with a pattern, or None."""
    if not pattern:
        return "it is empty"
    if len(pattern) > MAX_PATTERN:
        return f"it is over {MAX_PATTERN} characters long"
    if not pattern.isprintable():
        return "it has characters that cannot be seen"
    if sum(len(piece[0]) for piece in _PIECE.finditer(pattern)) != len(pattern):
        return r"a backslash stands only before *, ? or another backslash"
    return None


@dataclass(frozen=True, slots=True)
class Globs:
    """Patterns of which one has to fit."""

    literals: frozenset[str]
    wild: re.Pattern[str] | None
    chunks: tuple[str, ...] = ()
    """For each pattern with a wildcard the longest text it cannot do without."""

    prefixes: tuple[str, ...] = ()
    """For each pattern with a wildcard what stands before the first one."""

    ends: tuple[tuple[str, str, int], ...] = ()
    """For each such pattern how a text that fits begins and ends, and how many
    slashes it has at least."""

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Self:
        """Prepare patterns that have no fault."""
        literals: set[str] = set()
        wild, chunks, prefixes, ends = [], [], [], []
        for pattern in patterns:
            pieces = list(_PIECE.finditer(pattern))
            if any(piece[2] for piece in pieces):
                wild.append(_expression(pieces))
                chunks.append(_chunk(pieces))
                prefixes.append(_prefix(pieces))
                ends.append(_ends(pieces))
            else:
                literals.add("".join(piece[1] or piece[3] for piece in pieces))
        joined = re.compile("|".join(wild), re.DOTALL) if wild else None
        return cls(
            frozenset(literals), joined, tuple(chunks), tuple(prefixes), tuple(ends)
        )

    def fit(self, text: str) -> bool:
        """Tell whether one of the patterns fits all of `text`."""
        if text in self.literals:
            return True
        return (
            self.wild is not None
            and len(text) <= MAX_TEXT
            and self.wild.fullmatch(text) is not None
        )

    def may_be_in(self, joined: str) -> bool:
        """Tell whether a pattern with a wildcard could fit a part of `joined`.

        One search for a text that the pattern needs rules most of them out.
        """
        return any(chunk in joined for chunk in self.chunks)


def _ends(pieces: list[re.Match[str]]) -> tuple[str, str, int]:
    after = list(takewhile(lambda piece: not piece[2], reversed(pieces)))
    suffix = "".join(piece[1] or piece[3] for piece in reversed(after))
    slashes = sum((piece[3] or "").count("/") for piece in pieces)
    return _prefix(pieces), suffix, slashes


def _prefix(pieces: list[re.Match[str]]) -> str:
    before = takewhile(lambda piece: not piece[2], pieces)
    return "".join(piece[1] or piece[3] for piece in before)


def _chunk(pieces: list[re.Match[str]]) -> str:
    return max((piece[1] or piece[3] or "" for piece in pieces), key=len)


def _expression(pieces: list[re.Match[str]]) -> str:
    parts = [""]
    for piece in pieces:
        if piece[2] == "*":
            parts.append("")
        else:
            parts[-1] += "." if piece[2] else re.escape(piece[1] or piece[3])
    if len(parts) == 1:
        return parts[0]
    first, *middle, last = parts
    # An atomic group gives nothing back once it has matched.
    return first + "".join(f"(?>.*?{part})" for part in middle) + ".*" + last
