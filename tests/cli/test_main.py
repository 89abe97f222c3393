import subprocess
import sys

import pytest

from holdfast.cli.main import main
from holdfast.version import __version__


def test_the_module_is_the_command() -> None:
    said = subprocess.check_output(
        [sys.executable, "-m", "holdfast", "--version"], text=True
    )

    assert said == f"holdfast {__version__}\n"


def test_without_a_verb_it_shows_what_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    assert "tour" in capsys.readouterr().out


def test_a_verb_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fly"])

    assert stopped.value.code == 2
    assert "fly" in capsys.readouterr().err
