"""Reads an asciicast, version 3; it may come from anybody.

What the format has and we do not know is skipped, as it asks for: comments, other
letters, other fields. What is not of the format is refused, with its line.
"""

import json
from typing import NamedTuple

from holdfast.core.recording.cast_writer import VERSION
from holdfast.model.errors import MalformedArgument
from holdfast.model.geometry import MAX_SIDE, Size

MAX_LINE = 16 * 1024 * 1024
"""Characters of a line: a recorder that writes once a second has no longer ones."""

MAX_SECONDS = 1e9
"""The longest interval: a player that is told of more would wait for ever."""


class Header(NamedTuple):
    """What the first line says."""

    size: Size
    title: str
    idle_limit: float | None
    """Seconds that a pause should last at most, if the recording says so."""


class Recorded(NamedTuple):
    """One event: seconds since the one before, a letter, and text."""

    interval: float
    code: str
    data: str


def read_header(line: str) -> Header:
    """Read the first line.

    Raises:
        UsageError: It is none of an asciicast of version 3.

    """
    told = _json(line, 1)
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise _malformed(1, "no header of an asciicast of version 3")
    terminal = told.get("term")
    sides = terminal if isinstance(terminal, dict) else {}
    columns, rows = _side(sides.get("cols")), _side(sides.get("rows"))
    if columns is None or rows is None:
        raise _malformed(1, "the terminal's size is missing")
    title = told.get("title")
    return Header(
        Size(columns, rows),
        title if isinstance(title, str) else "",
        _time(told.get("idle_time_limit")),
    )


def read_event(line: str, number: int) -> Recorded | None:
    """Read one further line, the `number`th; None if it is a comment or empty.

    Raises:
        UsageError: It is no event.

    """
    if not line.strip() or line.startswith("#"):
        return None
    match _json(line, number):
        case [interval, str(code), str(data), *_] if (
            seconds := _time(interval)
        ) is not None:
            return Recorded(seconds, code, data)
        case _:
            raise _malformed(number, "no event")


def _json(line: str, number: int) -> object:
    if len(line) > MAX_LINE:
        raise _malformed(number, "it is too long")
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise _malformed(number, "it is not JSON") from None


def _side(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= MAX_SIDE else None


def _time(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MAX_SECONDS else None


def _malformed(number: int, why: str) -> MalformedArgument:
    return MalformedArgument(f"line {number}", f"part of an asciicast: {why}")
