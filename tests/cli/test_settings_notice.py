import json
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper

from holdfast.cli import start
from holdfast.cli.main import main
from holdfast.cli.settings_notice import settings_told

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def file(keeper: FakeKeeper) -> Path:
    return keeper.folder / "config/config.toml"


def test_sound_settings_are_no_news(file: Path) -> None:
    assert settings_told()[1] == []
    file.write_text('prefix = "C-a"\n')

    settings, news = settings_told()
    assert (settings.prefix, news) == (1, [])


def test_the_first_mistake_is_told_and_how_many_more_there_are(file: Path) -> None:
    file.write_text("fly = 1\n")
    assert settings_told()[1] == [
        "config.toml: line 1: fly: unknown name; defaults are used"
    ]
    file.write_text("fly = 1\nflee = 1\n")
    assert settings_told()[1] == [
        "config.toml: line 1: fly: unknown name, and 1 more; defaults are used"
    ]


def test_a_mistake_stops_no_session_and_is_named_once(
    file: Path, keeper: FakeKeeper, capsys: Capture
) -> None:
    file.write_text('window = "2M"\nterm = 7\n')

    early = start.EARLY["new"](["--detach", "--json"])
    assert early is None
    assert not keeper.sessions
    assert main(["new", "--detach", "--json"]) == 0

    said = capsys.readouterr()
    assert json.loads(said.out)["id"] == keeper.sessions[0].id
    assert said.err.count("config.toml: line 2: term: expected") == 1
    assert keeper.asked[-1]["window"] == 2 << 20


def test_a_machine_is_told_of_mistakes_too(file: Path, capsys: Capture) -> None:
    file.write_text("fly = 1\n")

    main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)["abilities"]
    (settings,) = (one for one in found if one["name"] == "settings")
    assert settings["grade"] == "limited"
    assert "line 1: fly" in settings["why"]
