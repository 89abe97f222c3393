"""`record` by its words: what it refuses, and where it puts a recording."""

from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.cli.verbs.record import _usual_path
from holdfast.linux.stored import recordings


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder))


def test_a_mask_that_is_no_pattern_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.cast"

    assert main(["record", "build", str(file), "--mask", "("]) == 64
    assert "regular expression" in capsys.readouterr().err
    assert not file.exists()


def test_the_usual_file_is_named_for_the_session_and_stays_in_its_folder() -> None:
    path = _usual_path("beta/../../we ird")

    assert path.parent == recordings.recordings_dir()
    assert path.name.startswith("beta_______we_ird-")
    assert path.suffix == ".cast"
