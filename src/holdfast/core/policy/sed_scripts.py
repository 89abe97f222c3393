r"""Whether a `sed` command only prints and changes what it reads.

`sed` runs programs: `e` executes, `w` writes and `r` reads any file, and so do the
flags of `s`. Of a script only this is read, once or several times, with `;` between:

    address    12   $   /text/   and two of them with a comma
    command    p P d D q = n N g G h H x, each after an address or alone
    s/a/b/     with one of / | , # : @ ! as the border, and the flags g I i p 1 to 9
    y/a/b/

In the texts of these no backslash stands before anything but punctuation and digits,
and no bracket holds a border, so that no text ends later than it seems, to whichever
`sed`, and no line ends.

I1  What is called plain executes nothing, and opens no file that its words do not name.
"""

import re
from collections.abc import Sequence

_BORDERS = "/|,#:@!"
_PIECE = r"[^\\\n\[{0}]|\\[^A-Za-z\n]|\[\^?\]?[^\]\\\n\[{0}]*\]"
_TEXT = rf"(?:{_PIECE})*"
_ADDRESS = rf"(?:[0-9]+|\$|/(?:{_PIECE.format('/')})+/)"


def _substitution(border: str) -> str:
    text = _TEXT.format(re.escape(border))
    mark = re.escape(border)
    return f"s{mark}{text}{mark}{text}{mark}[gIip0-9]*|y{mark}{text}{mark}{text}{mark}"


_COMMAND = "|".join(["[pPdDq=nNgGhHx]", *map(_substitution, _BORDERS)])
_ONE = rf" *(?:{_ADDRESS}(?: *, *{_ADDRESS})? *)?(?:{_COMMAND}) *"
_SCRIPT = re.compile(rf"(?:{_ONE};)*{_ONE};?", re.DOTALL)
_PLAIN = re.compile(r"-[nErsz]+|-i|--in-place|--quiet|--silent|--regexp-extended")

MAX_SCRIPT = 256
"""Characters of a script that is read."""


def is_plain(words: Sequence[str | None]) -> bool:
    """Tell whether the words of a `sed` command, its name first, are such a one."""
    left, scripts = list(words[1:]), 0
    while left and (option := left[0]) is not None and option.startswith("-"):
        del left[0]
        if option == "-e":
            if not (left and _is_plain_script(left.pop(0))):
                return False
            scripts += 1
        elif not _PLAIN.fullmatch(option):
            return False
    if not scripts and not (left and _is_plain_script(left.pop(0))):
        return False
    # GNU sed takes options after other words, too; what is open may become one.
    return all(word is not None and not word.startswith("-") for word in left)


def _is_plain_script(script: str | None) -> bool:
    if script is None or len(script) > MAX_SCRIPT:
        return False
    return _SCRIPT.fullmatch(script) is not None
