import asyncio
import sys
from pathlib import Path

import pytest

from holdfast.cli.hooks import MAX_VALUE, MAX_WAITING, Hooks, is_wanted, variables

WRITES = (
    "import os, sys; open(sys.argv[1], 'a').write(os.environ['HOLDFAST_LINE'] + '\\n')"
)
HOSTILE = "$(touch pwned); `id` 'x' \"y\" && z"


def is_written(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


@pytest.mark.parametrize(
    ("name", "patterns", "is_one"),
    [
        ("turn.passed", ["turn.*"], True),
        ("turn.passed", ["turn.passed", "x"], True),
        ("turn.passed", ["gate.*"], False),
        ("turn.passed", ["*"], True),
    ],
)
def test_events_are_chosen_by_pattern(
    name: str, patterns: list[str], *, is_one: bool
) -> None:
    assert is_wanted(name, patterns) == is_one


def test_values_become_variables_that_any_kernel_takes() -> None:
    told = variables({"event": "x", "line": "a\0b" * MAX_VALUE, "none": None})

    assert told["HOLDFAST_EVENT"] == "x"
    assert len(told["HOLDFAST_LINE"]) == MAX_VALUE
    assert "\0" not in told["HOLDFAST_LINE"]
    assert "HOLDFAST_NONE" not in told


def test_a_program_is_run_for_each_event_and_no_shell_reads_what_it_is_told(
    tmp_path: Path,
) -> None:
    written = tmp_path / "written"

    async def story() -> None:
        hooks = Hooks([sys.executable, "-c", WRITES, str(written)], ["command.*"])
        loop = asyncio.get_running_loop()
        running = loop.create_task(hooks.run())
        hooks.happened("command.ended", {"line": HOSTILE})
        hooks.happened("turn.passed", {"line": "not wanted"})
        async with asyncio.timeout(30):
            while not is_written(written):  # noqa: ASYNC110  # another process writes
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(story())
    assert written.read_text() == f"{HOSTILE}\n"
    assert not (tmp_path / "pwned").exists()


def test_a_flood_of_events_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = Hooks(["true"], ["*"])

    for number in range(MAX_WAITING + 5):
        hooks.happened("turn.passed", {"number": number})

    assert hooks.given_up == 5
    assert "given up" in capsys.readouterr().err


def test_without_a_program_nothing_waits() -> None:
    hooks = Hooks([], ["*"])

    hooks.happened("turn.passed", {})

    assert hooks.given_up == 0
