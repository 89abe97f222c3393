import contextlib

import pytest

from holdfast.cli.main import main

BAD = [
    ["run", "web"],
    ["run", "web", ""],
    ["run", "web", "   "],
    ["run", "web", "echo a\necho b"],
    ["run", "web", "ls\t"],
    ["run", "web", "\x03"],
    ["run", "web", "ls", "--max", "0"],
    ["run", "web", "ls", "--key", ""],
    ["run", "web", "ls", "--key", "k" * 257],
    ["run", "web", "ls", "--expect", "("],
]


@pytest.mark.parametrize("words", BAD, ids=repr)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(SystemExit):
        assert main(words) == 64

    told = capsys.readouterr().err
    assert told
    assert "Traceback" not in told
