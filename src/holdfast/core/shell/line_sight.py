"""What can be seen of the words of a text that cannot be parsed.

Rules that deny or ask want to find, not to know: quotes, escape sequences and
punctuation are taken away, and what is left are pieces, which may be words.
"""

import re

from holdfast.core.shell.simple_command import Sight

MAX_PIECES = 512
"""Pieces kept in order, for patterns with wildcards and for sequences."""

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])?", re.DOTALL)
_QUOTES = re.compile(r"['\"\\]")
_BORDERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f;&|<>()$`{}!]+")
_INNER_BORDERS = re.compile(r"[,=:]+")

NO_SIGHT = Sight()


def sight_of(text: str) -> Sight:
    """Return what can be seen of words, quotes and escape sequences taken away."""
    bare = _QUOTES.sub("", _SEQUENCE.sub(" ", text))
    pieces = [piece for piece in _BORDERS.split(bare) if piece]
    parts = [part for piece in pieces for part in _INNER_BORDERS.split(piece)]
    names = [part.rsplit("/", 1)[-1] for part in parts]
    everything = [one for one in dict.fromkeys([*pieces, *parts, *names]) if one]
    distinct = tuple(everything[:MAX_PIECES])
    ordered = tuple(pieces[:MAX_PIECES])
    return Sight(ordered, distinct, "\n".join(distinct), frozenset(everything))
