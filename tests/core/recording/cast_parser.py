"""A parser of asciicast v3, written from its description; it shares no code with ours.

https://docs.asciinema.org/manual/asciicast/v3
"""

import json
import re
from typing import Any

CODES = {"o", "i", "m", "r", "x"}


def parsed(raw: bytes) -> tuple[dict[str, Any], list[tuple[float, str, str]]]:
    """Return the header, and events with the time since the beginning."""
    text = raw.decode("utf-8")
    assert text.endswith("\n")
    first, *lines = text[:-1].split("\n")
    header = json.loads(first)
    assert header["version"] == 3
    assert isinstance(header["term"]["cols"], int)
    assert isinstance(header["term"]["rows"], int)
    assert isinstance(header.get("timestamp", 0), int)
    assert isinstance(header.get("title", ""), str)
    at, events = 0.0, []
    for line in lines:
        if line.startswith("#"):
            continue
        event = json.loads(line)
        assert isinstance(event, list)
        assert len(event) == 3
        interval, code, data = event
        assert isinstance(interval, int | float)
        assert interval >= 0
        assert code in CODES
        assert isinstance(data, str)
        if code == "r":
            assert re.fullmatch(r"[1-9]\d*x[1-9]\d*", data)
        if code == "x":
            assert re.fullmatch(r"-?\d+", data)
        at += interval
        events.append((round(at, 3), code, data))
    assert all(code != "x" for _, code, _ in events[:-1])
    return header, events
