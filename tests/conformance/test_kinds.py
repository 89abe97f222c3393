import re
from pathlib import Path

from holdfast.conformance import kinds
from holdfast.conformance.kinds import KINDS

PAGE = (Path(__file__).parents[2] / "docs/spec/wire.md").read_text("utf-8")
ROW = re.compile(
    r"^\| 0x([0-9a-f]{2}) \| `(\w+)` \| (.*?) \| ([os, ]+) \|", re.MULTILINE
)


def test_the_kinds_are_those_of_the_page() -> None:
    told = {
        name: (int(number, 16), re.findall(r"`(\w+)`", fields), sides)
        for number, name, fields, sides in ROW.findall(PAGE)
    }

    assert told == {
        name: (one.number, list(one.fields), ", ".join(one.sides))
        for name, one in KINDS.items()
    }


def test_the_limits_are_those_of_the_page() -> None:
    for name in ("MAX_PAYLOAD", "MAX_UNPROVEN_PAYLOAD", "MAX_INPUT"):
        assert f"| `{name}` | {getattr(kinds, name)} |" in PAGE
