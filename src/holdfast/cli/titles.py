r"""Whether a program has set the terminal's title, and has finished doing so.

Theory of operation
-------------------
We set the title ourselves, and a program inside a session may set it too: then ours has
to be set again, but not in the middle of a sequence that the program has begun to
print, because ours would become part of it. So we look for the sequences that set a
title, and at the end of the output for an unfinished one.

Invariants:

I1  However the stream is cut, `was_set` is true once a title has been set.
I2  While such a sequence is unfinished, `was_set` is false, unless it is longer
    than a title may be: no program can hide for ever who has the turn.
"""

import re

MAX_STRING = 4096
"""Bytes after which an unterminated string no longer counts as a title."""

_SETS = re.compile(rb"\x1b\][02];")
_TITLE = re.compile(
    rb"\x1b\][02];([^\x07\x18\x1a\x1b]{0,%d})(?:\x07|\x1b\\)" % MAX_STRING
)
_ENDS = re.compile(rb"\x07|\x1b\\|\x18|\x1a")


class TitleWatch:
    """Watches output on its way to a terminal."""

    def __init__(self) -> None:
        self.text = ""
        """The title that the program has chosen last; anything may be in it."""

        self._is_set = False
        self._held = b""

    @property
    def was_set(self) -> bool:
        """Whether the program set a title, and no other sequence is unfinished."""
        return self._is_set and not self._held

    def feed(self, data: bytes) -> None:
        """Take the next output."""
        # Most output sets no title, so this must be quick: one byte is found a hundred
        # times as fast as two.
        if not self._held and (
            b"\x1b" not in data or (b"\x1b]" not in data and data[-1:] != b"\x1b")
        ):
            return
        seen = self._held + data
        self._is_set = self._is_set or _SETS.search(seen) is not None
        for found in _TITLE.finditer(seen):
            self.text = found[1].decode(errors="replace")
        self._held = _unfinished(seen[-MAX_STRING:])

    def tell(self, text: str) -> None:
        """Take the title that a program has set where it was not printed."""
        if text != self.text:
            self.text, self._is_set = text, True

    def forget(self, text: str) -> None:
        """Note that the title is ours again, and the program's is still `text`."""
        self.text, self._is_set = text, False


def _unfinished(seen: bytes) -> bytes:
    """Return the start of a control string that is unfinished at the end of `seen`."""
    begins = seen.rfind(b"\x1b]")
    if begins >= 0 and not _ENDS.search(seen, begins + 2):
        return seen[begins:]
    return b"\x1b" if seen.endswith(b"\x1b") else b""
