"""Parses arguments of the command line."""

import contextlib
import os
import re
import signal

from holdfast.model.errors import MalformedArgument
from holdfast.model.limits import EXPECTED, limit_from
from holdfast.model.settings import MAX_WINDOW, MIN_WINDOW, bytes_from, bytes_told
from holdfast.model.text import printable

_SIZE = re.compile(r"([0-9]{1,6})[xX]([0-9]{1,6})", re.ASCII)


def size_from(text: str) -> tuple[int, int]:
    """Parse COLUMNSxROWS. Whether a terminal can be that large is checked elsewhere.

    Raises:
        UsageError: The text is no size.

    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise MalformedArgument(printable(text, 64), "a size such as 80x24")
    return int(found[1]), int(found[2])


def window_from(text: str) -> int:
    """Parse how much output to keep: 16M.

    Raises:
        UsageError: The text is no size, or too small or too large a one.

    """
    found = bytes_from(text)
    if found is None or not MIN_WINDOW <= found <= MAX_WINDOW:
        least, most = bytes_told(MIN_WINDOW), bytes_told(MAX_WINDOW)
        wanted = f"a size from {least} to {most}, such as 16M"
        raise MalformedArgument(printable(text, 64), wanted)
    return found


def limit_from_text(name: str, text: str) -> int:
    """Parse how much of the machine a session may use: 2G, 1.5 or 500.

    Raises:
        UsageError: It is not what that limit may be.

    """
    given: str | float = text
    if name != "memory":
        with contextlib.suppress(ValueError):
            given = float(text) if name == "cpus" else int(text)
    found = limit_from(name, given)
    if not found:
        raise MalformedArgument(printable(text, 64), EXPECTED[name])
    return found


def variable_from(text: str) -> tuple[str, str]:
    """Parse NAME=VALUE.

    Raises:
        UsageError: There is no name, or no value.

    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise MalformedArgument(printable(text, 64), "a variable such as NAME=VALUE")
    return name, value


def pattern_from(text: str) -> re.Pattern[bytes]:
    """Read a regular expression for bytes.

    Raises:
        UsageError: It is none.

    """
    try:
        return re.compile(os.fsencode(text))
    except re.error as error:
        wanted = f"a pattern: {printable(str(error))}"
        raise MalformedArgument(printable(text, 64), wanted) from None


def signal_from(text: str) -> int:
    """Parse a signal: TERM, SIGTERM or 15.

    Raises:
        UsageError: There is no such signal.

    """
    wanted = text.upper().removeprefix("SIG")
    for known in signal.valid_signals():
        name = signal.Signals(known).name if known in _NAMED else ""
        if wanted in (name.removeprefix("SIG") or None, str(int(known))):
            return int(known)
    raise MalformedArgument(printable(text, 64), "a signal such as TERM, SIGTERM or 15")


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    return signal.Signals(number).name if number in _NAMED else f"signal {number}"


_NAMED = frozenset(int(known) for known in signal.Signals)


def program_from(text: str | None) -> str | None:
    """Parse the program that a systemd unit runs: a path from the root folder on.

    Raises:
        UsageError: It does not begin with `/`, or has a line break in it.

    """
    if text is not None and not (text.startswith("/") and text.isprintable()):
        raise MalformedArgument(printable(text, 64), "a path such as /usr/bin/holdfast")
    return text
