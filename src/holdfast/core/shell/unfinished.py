"""Whether a shell may wait for more of a command after this line.

A shell without a line editor keeps the lines of an unfinished command to itself:
the next Return, by any operator, may end it. Whether a line is finished depends on the
grammar and on all lines before it; here only those that certainly are count as
finished, and any that might not be does not.
"""

import re

_OPEN = re.compile(rb"[\\'\"`({<|&]|\$")
"""Quotes, groups, here-documents, pipes and lists; all that needs another half."""

_WORDS = frozenset(
    b"if then else elif for while until do case select in function repeat "
    b"foreach begin switch and or not coproc".split()
)


def may_go_on(line: bytes | bytearray) -> bool:
    """Tell whether a command may be unfinished with this line."""
    if _OPEN.search(line):
        return True
    return not _WORDS.isdisjoint(bytes(line).replace(b";", b" ").split())
