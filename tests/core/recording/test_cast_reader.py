import json

import pytest

from holdfast.core.recording.cast_reader import (
    MAX_LINE,
    Recorded,
    read_event,
    read_header,
)
from holdfast.model.errors import UsageError
from holdfast.model.geometry import Size

GOOD = {"version": 3, "term": {"cols": 80, "rows": 24}}


def test_a_header_of_any_recorder_is_read() -> None:
    plain = read_header(json.dumps(GOOD))
    full = read_header(
        json.dumps({**GOOD, "title": "Demo", "idle_time_limit": 2, "env": {"A": "b"}})
    )

    assert (plain.size, plain.title, plain.idle_limit) == (Size(80, 24), "", None)
    assert (full.title, full.idle_limit) == ("Demo", 2.0)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "[]",
        "junk",
        "[" * 100_000,
        json.dumps({**GOOD, "version": 2}),
        json.dumps({"version": 3}),
        json.dumps({**GOOD, "term": {"cols": 80}}),
        json.dumps({**GOOD, "term": {"cols": 0, "rows": 24}}),
        json.dumps({**GOOD, "term": {"cols": 80, "rows": 10**9}}),
        json.dumps({**GOOD, "term": {"cols": True, "rows": 24}}),
        json.dumps({**GOOD, "term": {"cols": "80", "rows": 24}}),
    ],
    ids=range(11),
)
def test_what_is_no_header_is_refused(header: str) -> None:
    with pytest.raises(UsageError, match="line 1"):
        read_header(header)


def test_an_event_is_read_and_comments_are_skipped() -> None:
    assert read_event('[0.5, "o", "text"]\n', 2) == Recorded(0.5, "o", "text")
    assert read_event('[1, "z", "x", "more"]\n', 2) == Recorded(1.0, "z", "x")
    assert read_event("# a comment\n", 2) is None
    assert read_event("\n", 2) is None


@pytest.mark.parametrize(
    "line",
    [
        "junk",
        "{}",
        '[0.5, "o"]',
        '["0.5", "o", "x"]',
        '[true, "o", "x"]',
        '[-1, "o", "x"]',
        '[NaN, "o", "x"]',
        '[Infinity, "o", "x"]',
        '[1e300, "o", "x"]',
        '[1, 2, "x"]',
        '[1, "o", 2]',
        "x" * (MAX_LINE + 1),
    ],
    ids=range(12),
)
def test_what_is_no_event_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(UsageError, match="line 7"):
        read_event(line, 7)
