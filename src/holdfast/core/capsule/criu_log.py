"""What CRIU's log says went wrong, in one line.

The log is as long as CRIU is talkative, and its last line is never the cause: each
caller reports once more that something failed. Two lines are written by runs that
succeed. A program of the session can have its own name, and so its own words, in the
log: the line is cut and made printable, and nobody decides anything by it.
"""

import re

from holdfast.model.text import printable

LONGEST = 300
"""Characters of the line: a path of a file may be in it."""

_ERROR = re.compile(r"^(?:\([\d.]+\)\s*)?(?:\s*\d+: )?Error \([^()]*\): (.*)$")

_HARMLESS = ("RLIMIT_NOFILE", "Can't open ns_last_pid")
_CONSEQUENCES = re.compile(
    r"FAILED|failed with -?\d|exited, status|killed by signal"
    r"|Unable to (?:start|restore) task|Can't (?:dump|open) (?:task|files)"
)

UNKNOWN = "CRIU gave no reason"


def cause(log: str) -> str:
    """Return the last line that says why, or else the last that says that."""
    errors = [found[1] for line in log.splitlines() if (found := _ERROR.match(line))]
    errors = [one for one in errors if not any(word in one for word in _HARMLESS)]
    real = [one for one in errors if not _CONSEQUENCES.search(one)]
    told = (real or errors or [UNKNOWN])[-1]
    return printable(told, LONGEST)
