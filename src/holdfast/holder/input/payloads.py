"""The payloads of inputs that are not text.

    resize   columns, x, rows, in digits:  120x40
    signal   the number, in digits:        2

Anything else is refused before it is accepted: a process that holds a session must
not trip over what a client sends it.
"""

import re

from holdfast.model import errors
from holdfast.model.envelopes import Right
from holdfast.model.geometry import Size
from holdfast.model.inputs import Input, InputKind
from holdfast.model.text import printable

MAX_LINE = 4095
"""Bytes of a line that a canonical terminal keeps; it silently drops the rest."""

_SIZE = re.compile(rb"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})")
_SIGNAL = re.compile(rb"[1-9][0-9]?")
_LAST_SIGNAL = 64
_LINE_ENDS = re.compile(rb"[\r\n\x04]")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


def check(given: Input, *, is_canonical: bool, staged: int = 0) -> None:
    """Do nothing if the input can be applied; `staged` bytes of its line are there.

    Raises:
        UsageError: Its bytes mean nothing, or would be cut.

    """
    match given.kind:
        case InputKind.RESIZE:
            size_of(given.payload)
        case InputKind.SIGNAL:
            signal_of(given.payload)
        case InputKind.START:
            pass
        case _ if is_canonical:
            longest = max(map(len, _LINE_ENDS.split(given.payload)))
            first = len(_CONTROL.split(given.payload, maxsplit=1)[0])
            if first:  # A control key always passes: it may be what helps.
                longest = max(longest, staged + first)
            if longest > MAX_LINE:
                raise errors.LineTooLong(longest, MAX_LINE)
        case _:
            pass


def demand_sent(given: Input) -> None:
    """Do nothing if an input is one that clients make.

    Raises:
        Forbidden: It is not: a session is begun once, by its holder.

    """
    if given.kind is InputKind.START:
        raise errors.NotAllowed(given.actor, Right.CREATE.value)


def staged_after(staged: int, payload: bytes) -> int:
    """Return how much of a line waits in the terminal once `payload` is there too.

    Any control byte counts as the beginning of a line: it ends or erases one, or
    we cannot tell; and a line is refused only when it is known to be too long.
    """
    *before, last = _CONTROL.split(payload)
    return len(last) if before else staged + len(last)


def size_of(payload: bytes) -> Size:
    """Read a size.

    Raises:
        UsageError: It is none.

    """
    found = _SIZE.fullmatch(payload)
    if found is None:
        raise errors.MalformedSize(_shown(payload))
    return Size(int(found[1]), int(found[2]))


def signal_of(payload: bytes) -> int:
    """Read a signal's number.

    Raises:
        UsageError: There is no such signal.

    """
    if _SIGNAL.fullmatch(payload) is None or int(payload) > _LAST_SIGNAL:
        raise errors.NoSuchSignal(_shown(payload))
    return int(payload)


def _shown(payload: bytes) -> str:
    return printable(payload.decode("latin-1"), 40)
