"""The point from which a logbook is shown.

12              from entry 12 on
45s 10m 2h 3d   that long ago
14:30           the last time it was that time
2026-11-15      from that day on; with a time too: 2026-11-15T14:30
"""

import datetime as dt
import re
from dataclasses import dataclass

from holdfast.model.errors import MalformedArgument
from holdfast.model.session_requests import ReadLog
from holdfast.model.text import printable

_AGO = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?", re.ASCII)
_INDEX = re.compile(r"[0-9]{1,15}", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class Since:
    """Where to start: at an index, or at a wall-clock time."""

    index: int = 0
    at_wall_ms: int | None = None

    def asked(self) -> ReadLog:
        """Return it as a request for the logbook."""
        if self.at_wall_ms is None:
            return ReadLog(index_=self.index)
        return ReadLog(since=max(0, self.at_wall_ms))

    def begins(self, index: int, at_wall_ms: int) -> bool:
        """Tell whether an entry is late enough to start with.

        Everything after the first such entry is included, since clocks are set back.
        """
        if self.at_wall_ms is None:
            return index >= self.index
        return at_wall_ms >= self.at_wall_ms


def since_from(text: str, now: dt.datetime) -> Since:
    """Parse WHEN; `now` carries the time zone of clocks and days.

    Raises:
        UsageError: The text is not a point in time.

    """
    if _INDEX.fullmatch(text):
        return Since(index=int(text))
    try:
        return Since(at_wall_ms=int(_moment(text, now).timestamp() * 1000))
    except (ValueError, OverflowError):
        raise MalformedArgument(
            printable(text, 64), "a time such as 10m, 2h, 14:30, 2026-01-31 or 12"
        ) from None


def _moment(text: str, now: dt.datetime) -> dt.datetime:
    if ago := _AGO.fullmatch(text):
        return now - dt.timedelta(seconds=int(ago[1]) * _UNITS[ago[2]])
    if clock := _CLOCK.fullmatch(text):
        hour, minute, second = (int(part or 0) for part in clock.groups())
        then = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
        return then if then <= now else then - dt.timedelta(days=1)
    then = dt.datetime.fromisoformat(text)
    return then if then.tzinfo is not None else then.replace(tzinfo=now.tzinfo)
