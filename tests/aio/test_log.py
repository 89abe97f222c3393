import json
from pathlib import PurePosixPath

import pytest

from holdfast.aio.log import FORMAT, log


def test_an_event_is_one_line_of_its_name_and_facts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FORMAT, raising=False)

    log("keeper.lost", why="two\nlines", again_in=0.5)

    assert capsys.readouterr().err == "keeper.lost why='two\\nlines' again_in=0.5\n"


def test_for_programs_it_is_one_json_object_with_the_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FORMAT, "json")

    log("keeper.lost", why="two\nlines", path=PurePosixPath("/x"), count=3)

    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert told.pop("at_ms") > 1_700_000_000_000
    assert told == {
        "event": "keeper.lost",
        "why": "two\nlines",
        "path": "/x",
        "count": 3,
    }
