import argparse
import os
import subprocess
import sys

import pytest
from tests.tools.running import run_tool

from holdfast.cli.main import main
from holdfast.cli.manual import MAX_WIDTH, Manual

HEAVY = ("bz2", "dataclasses", "hashlib", "lzma", "msgspec", "shutil", "signal")


def width_of_help() -> int:
    parser = argparse.ArgumentParser(prog="x", formatter_class=Manual)
    parser.add_argument("--option", help="word " * 100)
    return max(map(len, parser.format_help().splitlines()))


def test_help_is_as_wide_as_it_is_told_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    narrow = width_of_help()
    monkeypatch.setenv("COLUMNS", "200")

    assert 40 < narrow <= 58
    assert 80 < width_of_help() <= MAX_WIDTH - 2


def test_a_long_text_is_filled_and_one_with_lines_is_not() -> None:
    parser = argparse.ArgumentParser(prog="x", formatter_class=Manual)
    parser.description, parser.epilog = "word " * 100, "a\n  b"

    shown = parser.format_help()

    assert max(map(len, shown.splitlines())) < MAX_WIDTH
    assert shown.endswith("a\n  b\n")


def test_each_paragraph_is_filled() -> None:
    parser = argparse.ArgumentParser(prog="x", formatter_class=Manual)
    parser.description = "word " * 100 + "\n\n" + "other " * 100

    shown = parser.format_help()

    assert max(map(len, shown.splitlines())) < MAX_WIDTH
    assert "word\n\nother" in shown


def test_the_reference_is_what_help_says() -> None:
    checked = run_tool("write_cli_reference", "--check")

    assert (checked.returncode, checked.stdout) == (0, "")


@pytest.mark.parametrize("columns", ["", "0", "-3", "many"])
def test_help_has_a_width_where_there_is_no_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert 60 < width_of_help() <= 78


@pytest.mark.parametrize("verb", ["new", "ls"])
def test_a_short_verb_loads_nothing_heavy(verb: str) -> None:
    program = (
        "import contextlib, sys\n"
        "from holdfast.cli.main import main\n"
        f"with contextlib.suppress(SystemExit): main([{verb!r}, '--no-such-option'])\n"
        "import holdfast.client.keeper\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )

    # What measures coverage loads modules of its own.
    env = {name: v for name, v in os.environ.items() if "COVERAGE" not in name}
    shown = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )

    assert "no-such-option" in shown.stderr
    assert shown.stdout.strip() == "[]"


def test_help_is_laid_out_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ls", "--help"])

    assert (
        "\n  holdfast ls --json  the same and more, for programs\n"
        in capsys.readouterr().out
    )
