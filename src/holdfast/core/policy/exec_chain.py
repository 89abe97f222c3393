"""The program that the kernel runs for a file, and its arguments.

Theory of operation
-------------------
A file that is executed is not always the program. If it begins with `#!`, the kernel
executes the interpreter that is named there; if it has a format that was
registered (binfmt_misc), the one that was registered for it. An interpreter may be
such a file itself, and so on, MAX_DEPTH times. What the kernel does is repeated here,
from the first HEAD bytes of the file, which are all that the kernel looks at.

Invariants, checked by tests/core/policy/test_exec_chain.py and, against the kernel
itself, by tests/linux/test_exec_words.py:

I1  A line with `#!` is cut into words as the kernel cuts it: one interpreter, and at
    most one argument.
I2  Of several formats that fit, none is chosen: which one wins is not for us to say.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

HEAD: Final = 256
"""Bytes of a file that the kernel looks at."""

MAX_DEPTH: Final = 5
"""Interpreters of interpreters that the kernel follows."""

_BLANK: Final = b" \t"
_LAST: Final = HEAD - 1

Words = tuple[str | None, ...]


class Interpreter(NamedTuple):
    """What is executed in the place of a file."""

    path: bytes
    argument: bytes | None = None
    keeps_name: bool = False
    """Whether the program is also told by which name it was called."""


class Format(NamedTuple):
    """A format that is registered with the kernel."""

    interpreter: str
    keeps_name: bool
    extension: str = ""
    offset: int = 0
    magic: bytes = b""
    mask: bytes = b""

    def fits(self, name: str, head: bytes) -> bool:
        """Tell whether a file of this name and beginning has this format."""
        if self.extension:
            _, dot, extension = name.rpartition(".")
            return bool(dot) and extension == self.extension
        found = head[self.offset : self.offset + len(self.magic)].ljust(
            len(self.magic), b"\0"
        )
        mask = self.mask or b"\xff" * len(self.magic)
        return all(
            (one ^ wanted) & bits == 0
            for one, wanted, bits in zip(found, self.magic, mask, strict=False)
        )


def interpreter_of(head: bytes) -> Interpreter | None:
    """Return what a file says it is to be run by; None if it says nothing."""
    if not head.startswith(b"#!"):
        return None
    text = head[:HEAD].ljust(HEAD, b"\0")
    end = text.find(b"\n")
    if end < 0:
        end = _LAST
        name = _skip(text, 2, end)
        if name is None or _stop(text, name, end) is None:
            return None  # The path may go on where the kernel does not look.
    while text[end - 1] in _BLANK:
        end -= 1
    name = _skip(text, 2, end)
    if name is None or name == end:
        return None
    stop = _stop(text, name, end)
    argument = None if stop is None or text[stop] == 0 else _skip(text, stop, end)
    path = text[name : end if stop is None else stop]
    if argument is None:
        return Interpreter(path)
    return Interpreter(path, text[argument:end].partition(b"\0")[0])


def format_from(text: str) -> Format | None:
    """Read how the kernel describes a format; None if it does not apply."""
    lines = text.splitlines()
    facts = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
    if not lines or lines[0] != "enabled" or "interpreter" not in facts:
        return None
    keeps_name = "P" in facts.get("flags:", "")
    try:
        return Format(
            facts["interpreter"],
            keeps_name,
            facts.get("extension", "").removeprefix("."),
            int(facts.get("offset", "0")),
            bytes.fromhex(facts.get("magic", "")),
            bytes.fromhex(facts.get("mask", "")),
        )
    except ValueError:
        return None


def registered(
    formats: Iterable[Format], name: str, head: bytes
) -> tuple[Interpreter | None, bool]:
    """Return what is registered for such a file, and whether that is sure."""
    fitting = [one for one in formats if one.fits(name, head)]
    if len(fitting) != 1:
        return None, not fitting
    found = fitting[0]
    return Interpreter(found.interpreter.encode(), None, found.keeps_name), True


def words_for(interpreter: Interpreter, name: str | None, words: Words) -> Words:
    """Return what an interpreter is told about a file that was called `name`."""
    argument = () if interpreter.argument is None else (text_of(interpreter.argument),)
    first = words[:1] if interpreter.keeps_name else ()
    return (text_of(interpreter.path), *argument, name, *first, *words[1:])


def text_of(raw: bytes) -> str | None:
    """Return bytes as text; None if they are none."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _skip(text: bytes, first: int, last: int) -> int | None:
    """Return where the next word begins."""
    found = (at for at in range(first, last + 1) if text[at] not in _BLANK)
    return next(found, None)


def _stop(text: bytes, first: int, last: int) -> int | None:
    """Return where the word ends, if it does before `last`."""
    found = (at for at in range(first, last + 1) if text[at] in b" \t\0")
    return next(found, None)
