import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from holdfast.cli.hooks import (
    AT_ONCE,
    MAX_VALUE,
    MAX_WAITING,
    OURS,
    Hooks,
    is_wanted,
    variables,
)

SOURCE = Path(__file__).parents[2] / "src/holdfast"
TOLD = {"EVENT", "EVENT_SESSION", "NAME", "LINE"}
"""Variables that hooks are told by, and that no field can be led astray with."""

WRITES = (
    "import os, sys; open(sys.argv[1], 'a').write(os.environ['HOLDFAST_LINE'] + '\\n')"
)
HOSTILE = "$(touch pwned); `id` 'x' \"y\" && z"
HANGS = """\
import os, subprocess, sys
child = subprocess.Popen(["sleep", "600"])
open(sys.argv[1], "a").write(f"{child.pid}\\n")
child.wait()
"""


def is_written(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110  # another process changes it
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def running(hooks: Hooks) -> AsyncIterator[None]:
    task = asyncio.get_running_loop().create_task(hooks.run())
    yield
    task.cancel()
    await asyncio.wait({task})


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
        async with running(hooks):
            hooks.happened("command.ended", {"line": HOSTILE})
            hooks.happened("turn.passed", {"line": "not wanted"})
            await until(lambda: is_written(written))

    asyncio.run(story())
    assert written.read_text() == f"{HOSTILE}\n"
    assert not (tmp_path / "pwned").exists()


def test_a_flood_of_events_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = Hooks(["true"], ["*"])

    for number in range(MAX_WAITING + 5):
        hooks.happened("turn.passed", {"number": number})

    assert hooks.given_up == 5
    assert "was dropped" in capsys.readouterr().err


def test_without_a_program_nothing_waits() -> None:
    hooks = Hooks([], ["*"])

    hooks.happened("turn.passed", {})

    assert hooks.given_up == 0


@pytest.mark.parametrize("name", ["as", "runtime_dir", "config_dir", "state_dir"])
def test_no_field_becomes_a_variable_that_we_read_ourselves(name: str) -> None:
    assert variables({name: "evil", "event": "x"}) == {"HOLDFAST_EVENT": "x"}


@pytest.mark.parametrize("name", ["a=b", "", "A", "x" * 33, "a b", "ä", "a\nb"])
def test_what_is_no_name_becomes_no_variable(name: str) -> None:
    assert variables({name: "evil"}) == {}


def test_every_variable_that_the_code_reads_is_kept_from_fields() -> None:
    texts = [path.read_text() for path in SOURCE.rglob("*.py")]

    read = {name for text in texts for name in re.findall(r"HOLDFAST_([A-Z_]+)", text)}
    assert read - TOLD <= OURS


def test_programs_that_hang_hold_up_nobody_who_tells_and_die_with_what_they_started(
    tmp_path: Path,
) -> None:
    written = tmp_path / "pids"

    def has_all() -> bool:
        return is_written(written) and len(written.read_text().split()) == AT_ONCE

    async def story() -> None:
        hooks = Hooks([sys.executable, "-c", HANGS, str(written)], [])
        async with running(hooks):
            for _ in range(AT_ONCE + 1):
                hooks.happened("turn.passed", {})
            await until(has_all)

    asyncio.run(story())
    for pid in written.read_text().split():
        assert _dies(int(pid))


def test_what_has_happened_last_is_told_before_the_end(tmp_path: Path) -> None:
    written = tmp_path / "written"

    async def story() -> None:
        hooks = Hooks([sys.executable, "-c", WRITES, str(written)], [])
        async with running(hooks):
            await hooks.wait_done()
            hooks.happened("session.exited", {"line": "the end"})
            async with asyncio.timeout(30):
                await hooks.wait_done()

    asyncio.run(story())
    assert written.read_text() == "the end\n"


def _dies(pid: int) -> bool:
    """Tell whether a process that was killed is gone, as soon as the kernel says so."""
    ends_at = time.monotonic() + 10
    while not (is_dead := _is_dead(pid)) and time.monotonic() < ends_at:
        time.sleep(0.01)
    return is_dead


def _is_dead(pid: int) -> bool:
    """Tell whether a process is gone; one that nobody collects yet counts."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return True
    return state in "ZX"
