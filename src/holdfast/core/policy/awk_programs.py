"""Whether an `awk` command only prints what it reads.

`awk` runs programs (`system`, `|`), writes files (`>`) and reads those that it is not
told (`getline`, `ARGV`). A program without any of these, and without what calls them
by another name, does no more than compute and print.

I1  What is called plain executes nothing, and opens no file that its words do not name.
"""

import re
from collections.abc import Sequence

_NAMES = re.compile(r"(?:[gmn]|original-)?awk")
_MORE = re.compile(
    r"[|>@\\]|system|getline|close|fflush|ARG|ENVIRON|SYMTAB|FUNCTAB|PROCINFO|FILENAME"
)
_OPTION = re.compile(r"-F.+|-v[A-Za-z_]+=.*", re.DOTALL)
_SPLIT = ("-F", "-v")

MAX_PROGRAM = 512
"""Characters of a program that is read."""


def is_awk(name: str) -> bool:
    """Tell whether a program is called so."""
    return _NAMES.fullmatch(name) is not None


def is_plain(words: Sequence[str | None]) -> bool:
    """Tell whether the words of an `awk` command, its name first, are such a one."""
    left = list(words[1:])
    while left and (option := left[0]) is not None and option.startswith("-"):
        del left[0]
        if option in _SPLIT:
            if not left or left.pop(0) is None:
                return False
        elif not _OPTION.fullmatch(option):
            return False
    program = left[0] if left else None
    if program is None or len(program) > MAX_PROGRAM:
        return False
    return _MORE.search(program) is None
