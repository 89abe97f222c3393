import re
from pathlib import Path

import pytest

from holdfast.core.book.logbook import EntryKind
from holdfast.model.events import EventName
from holdfast.verify.mode import MODES, NOT_PROMISED, Mode

FOLDER = Path(__file__).parents[2] / "docs/explanation"
PAGE = (FOLDER / "failure-modes.md").read_text("utf-8")
REGIMES = (FOLDER / "regimes.md").read_text("utf-8")
ROW = re.compile(r"^\| (\d) \| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def test_the_table_has_the_modes_that_verify_injects() -> None:
    told = [(int(number), name) for number, name, _, _ in ROW.findall(PAGE)]

    assert told == [(one.number, one.name) for one in MODES]


@pytest.mark.parametrize("mode", MODES, ids=[one.name for one in MODES])
def test_a_mode_is_told_as_verify_tells_it(mode: Mode) -> None:
    section = PAGE.split(f"## {mode.number}. {mode.title}\n")[1].split("\n## ")[0]

    for said in (mode.trigger, mode.guarantee, mode.handed_off):
        assert said in section
    assert f"`holdfast verify {mode.name}`" in section


def test_what_is_not_promised_is_what_verify_prints() -> None:
    last = PAGE.split("## Not promised")[1]

    assert re.findall(r"^- (.+)$", last, re.MULTILINE) == list(NOT_PROMISED)


def test_signatures_are_events_and_entries_that_there_are() -> None:
    named = {
        word
        for *_, signature in ROW.findall(PAGE)
        for word in re.findall(r"`([a-z.]+)`", signature)
    }
    known = {str(one) for one in EventName} | {one.value for one in EntryKind}

    assert named <= known


def test_every_mode_belongs_to_a_regime() -> None:
    row = next(line for line in REGIMES.splitlines() if line.startswith("| tried by"))
    told = re.findall(r"`([a-z-]+)`", row.partition("|")[2].partition("|")[2])

    assert sorted(told) == sorted(one.name for one in MODES)
