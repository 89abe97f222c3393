"""Images that were made unasked are sent by a process, one at a time."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from holdfast.host.copy_courier import CopyCourier

PROGRAM = """
import pathlib, sys
seen = pathlib.Path({seen!r})
lines = seen.read_text().splitlines() if seen.exists() else []
seen.write_text("\\n".join([*lines, " ".join(sys.argv[1:])]) + "\\n")
sys.exit({status})
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    return folder / "config.toml"


def wait_for_lines(seen: Path, lines: int) -> None:
    """Wait until so many lines are there."""
    deadline = time.monotonic() + 50
    while lines and time.monotonic() < deadline:
        if seen.exists() and len(seen.read_text().splitlines()) >= lines:
            return
        time.sleep(0.01)


async def sent(tmp_path: Path, status: int, *images: str, lines: int) -> list[str]:
    """Have images sent by a command that leaves what it was told; return that."""
    seen = tmp_path / "seen"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(seen=str(seen), status=status))
    courier = CopyCourier((sys.executable, str(program)))
    for image in images:
        courier.made(image)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(courier.run())
        await asyncio.to_thread(wait_for_lines, seen, lines)
        task.cancel()
    return seen.read_text().splitlines() if seen.exists() else []


def test_each_image_is_sent_to_the_host_of_the_settings(
    tmp_path: Path, settings: Path
) -> None:
    settings.write_text('[checkpoints]\nto = "beta"\n')
    images = ("s_" + "a" * 16 + ".1", "s_" + "b" * 16 + ".4")

    found = asyncio.run(sent(tmp_path, 0, *images, lines=2))

    assert found == [f"images send {one} --to beta" for one in images]


@pytest.mark.parametrize("status", [64, 75])
def test_what_cannot_be_sent_does_not_stand_in_the_way_of_others(
    tmp_path: Path, settings: Path, status: int
) -> None:
    settings.write_text('[checkpoints]\nto = "beta"\n')
    images = ("s_" + "a" * 16 + ".1", "s_" + "b" * 16 + ".4")

    found = asyncio.run(sent(tmp_path, status, *images, lines=2))

    assert len(found) == 2


def test_without_a_host_nothing_is_sent(tmp_path: Path, settings: Path) -> None:
    settings.write_text("")

    assert asyncio.run(sent(tmp_path, 0, "s_" + "a" * 16 + ".1", lines=0)) == []


def test_a_command_that_is_not_there_does_no_harm(settings: Path) -> None:
    settings.write_text('[checkpoints]\nto = "beta"\n')

    async def story() -> tuple[int, str]:
        courier = CopyCourier(("/nonexistent/holdfast",))
        return await courier._sent("s_a.1", "beta")  # noqa: SLF001  # its one answer

    status, why = asyncio.run(story())
    assert status == 1
    assert "nonexistent" in why
