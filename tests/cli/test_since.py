import datetime as dt

import pytest

from holdfast.cli.since import Since, since_from
from holdfast.model.errors import UsageError

ZONE = dt.timezone(dt.timedelta(hours=2))
NOW = dt.datetime(2026, 11, 15, 14, 0, tzinfo=ZONE)


def ms(*moment: int) -> int:
    return int(dt.datetime(*moment, tzinfo=ZONE).timestamp() * 1000)  # type: ignore[misc,arg-type]  # six numbers at most


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("45s", ms(2026, 11, 15, 13, 59, 15)),
        ("10m", ms(2026, 11, 15, 13, 50)),
        ("2h", ms(2026, 11, 15, 12)),
        ("3d", ms(2026, 11, 12, 14)),
        ("13:30", ms(2026, 11, 15, 13, 30)),
        ("14:30", ms(2026, 11, 14, 14, 30)),
        ("9:05:07", ms(2026, 11, 15, 9, 5, 7)),
        ("2026-11-01", ms(2026, 11, 1)),
        ("2026-11-01T08:00", ms(2026, 11, 1, 8)),
        ("2026-11-01T06:00Z", ms(2026, 11, 1, 8)),
    ],
)
def test_a_moment_is_read_in_the_zone_of_whoever_asks(text: str, begin: int) -> None:
    assert since_from(text, NOW) == Since(at_wall_ms=begin)


def test_digits_are_an_index() -> None:
    assert since_from("12", NOW) == Since(index=12)


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "10x", "-3", "1e3m", "999999d", "\x1b[2J"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        since_from(text, NOW)


def test_an_entry_begins_by_index_or_by_time_and_not_by_both() -> None:
    assert Since(index=3).begins(3, 0)
    assert not Since(index=3).begins(2, 10**15)
    assert Since(at_wall_ms=50).begins(0, 50)
    assert not Since(at_wall_ms=50).begins(9, 49)
