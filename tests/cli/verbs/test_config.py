import json
import os
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.cli.verbs.completion import CONFIG
from holdfast.cli.verbs.config import ACTIONS

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path))
    return tmp_path / "config.toml"


def test_without_a_file_there_is_nothing_wrong(file: Path, capsys: Capture) -> None:
    assert main(["config", "check"]) == 0

    said = capsys.readouterr().out
    assert said == f"{file}: there is no such file; everything has its default\n"


def test_a_sound_file_has_no_problems(file: Path, capsys: Capture) -> None:
    file.write_text('prefix = "C-a"\n')

    assert main(["config", "check"]) == 0
    assert capsys.readouterr().out == f"{file}: no problems\n"


def test_problems_are_named_by_line(file: Path, capsys: Capture) -> None:
    file.write_text('view = "x"\nfly = 1\n')

    assert main(["config", "check"]) == 65
    assert capsys.readouterr().out.splitlines() == [
        f'{file}: line 1: view: expected "auto", "raw" or "framed"',
        f"{file}: line 2: fly: unknown name",
    ]


def test_what_this_machine_lacks_is_a_warning(file: Path, capsys: Capture) -> None:
    file.write_text('term = "vt100-of-nobody"\nshell = "/no/such\\u0007"\n')

    assert main(["config", "check"]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert "terminfo does not know vt100-of-nobody; sessions get" in first
    assert "shell: /no/such\\x07 is no program" in second
    assert last == f"{file}: no problems"


def test_another_file_is_checked_before_it_is_put_in_place(
    file: Path, capsys: Capture
) -> None:
    other = file.parent / "my.toml"
    other.write_text("fly = 1\n")

    assert main(["config", "check", str(other), "--json"]) == 65
    said = json.loads(capsys.readouterr().out)
    assert said["path"] == str(other)
    assert said["problems"] == [{"line": 1, "where": "fly", "what": "unknown name"}]
    assert said["exists"]


def test_a_file_that_is_not_ours_alone_is_named(file: Path, capsys: Capture) -> None:
    file.write_text('prefix = "C-a"\n')
    file.chmod(0o666)

    assert main(["config", "check", "--json"]) == 65
    assert "others may write it" in capsys.readouterr().out
    assert main(["config", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["prefix"] == "C-]"


def test_what_is_in_force_is_shown(file: Path, capsys: Capture) -> None:
    file.write_text('prefix = "C-a"\n')

    assert main(["config", "show"]) == 0
    assert 'prefix = "C-a"  #' in capsys.readouterr().out


def test_the_path_is_printed(file: Path, capsys: Capture) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{file}{os.linesep}"
    assert main(["config", "path", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"path": str(file), "exists": False}
    assert main(["config", "path", "x"]) == 64


def test_the_actions_are_completed() -> None:
    assert CONFIG == ACTIONS
