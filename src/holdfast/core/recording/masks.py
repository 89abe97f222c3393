"""Hides what looks like a secret in recorded output.

What is typed where the terminal does not echo is never printed, and so never recorded.
This is for secrets that are printed: each character is replaced by an asterisk, so that
everything else stays where it was. It works by line; a secret with colours or cursor
movements inside, or one that no pattern knows, is not found.
"""

import re
from collections.abc import Iterable, Sequence

SECRET = "secret"  # noqa: S105  # the name of a group
"""The group of a pattern that is hidden; without one, all that fits."""

_NAMED = r"(?i:password|passwd|secret|token|api[_-]?key)"

USUAL = (
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[0-9A-Za-z]{36,255}\b",
    r"\bgithub_pat_[0-9A-Za-z_]{22,255}\b",
    r"\bxox[abeprs]-[0-9A-Za-z-]{10,255}",
    r"\bsk-[0-9A-Za-z_-]{20,255}",
    r"\beyJ[0-9A-Za-z_-]{8,400}\.[0-9A-Za-z_-]{8,4000}\.[0-9A-Za-z_-]{8,1000}",
    _NAMED
    + r"[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<secret>[^\s\"'\x00-\x1f]{1,1000})",
    r"(?i:authorization: (?:bearer|basic)) (?P<secret>[^\s\"'\x00-\x1f]{1,4000})",
    r"://[^\s/:@\x00-\x1f]{0,255}:(?P<secret>[^\s/@\x00-\x1f]{1,255})@",
)
"""What secrets commonly look like: keys of services, tokens, assignments, URLs."""

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_ENDS = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
_SHOWN = re.compile(r"[^\s\x00-\x1f]")


class Masks:
    """The patterns of one recording."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        """Compile the usual patterns and these.

        Raises:
            re.error: One of them is no pattern.

        """
        self._patterns: Sequence[re.Pattern[str]] = [
            re.compile(one) for one in (*USUAL, *patterns)
        ]
        self._is_in_key = False

    def hidden(self, text: str) -> str:
        """Return text of the same length without secrets; whole lines, but the last."""
        return "".join(map(self._hidden_line, text.splitlines(keepends=True)))

    def _hidden_line(self, line: str) -> str:
        if self._is_in_key or _KEY_BEGINS.search(line):
            self._is_in_key = not _KEY_ENDS.search(line)
            return _SHOWN.sub("*", line)
        for pattern in self._patterns:
            line = pattern.sub(_stars, line)
        return line


def _stars(found: re.Match[str]) -> str:
    """Return what was found with the secret in it replaced by as many asterisks."""
    if SECRET not in found.re.groupindex:
        return "*" * len(found[0])
    secret, (start, end) = found[SECRET] or "", found.span(SECRET)
    before = found.string[found.start() : start] if secret else found[0]
    after = found.string[end : found.end()] if secret else ""
    return before + "*" * len(secret) + after
