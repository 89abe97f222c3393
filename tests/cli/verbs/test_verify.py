from pathlib import Path

import pytest

from holdfast.cli import main


def test_a_mode_that_is_none_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.main(["verify", "earthquake"]) == 64

    assert "1 disconnect" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_known_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["verify", "1", "--report", str(tmp_path / "no" / "x.html")]) != 0

    assert "disconnects" not in capsys.readouterr().err
