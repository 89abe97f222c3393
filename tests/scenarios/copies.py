"""Copies of the code: older, newer and broken ones, and upgrades between them."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.scenarios.support import Machine, machine

ROOT = Path(__file__).resolve().parents[2]
PRESENT = ROOT / "src"


def copy(folder: Path, version: str) -> Path:
    """Copy the present code, as another version; return the folder to load it from."""
    unneeded = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PRESENT / "holdfast", folder / "holdfast", ignore=unneeded)
    plant(folder, "version.py", f'__version__ = "{version}"')
    return folder


def plant(folder: Path, module: str, lines: str) -> None:
    """Add something to the end of a module of a copy."""
    path = folder / "holdfast" / module
    path.write_text(f"{path.read_text()}\n\n{lines}\n")


def previous_commit(folder: Path) -> Path | None:
    """Return a copy of the code before the last commit, if there is a history."""
    archived = subprocess.run(
        ["git", "archive", "HEAD~1", "src"],  # noqa: S607  # whichever git there is
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if archived.returncode != 0:
        return None
    # Not by tarfile, whose safe way of it Debian 12's own Python has not got.
    folder.mkdir(exist_ok=True)
    unpack = ["tar", "-x", "-C", str(folder)]
    subprocess.run(unpack, input=archived.stdout, check=True)
    return folder / "src"


@contextlib.contextmanager
def machine_running(root: Path) -> Iterator[Machine]:
    """Run a keeper of some code, and everything it starts."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(root)
    try:
        with machine() as made:
            yield made
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


def start_upgrade(root: Path) -> "subprocess.Popen[bytes]":
    """Run `holdfast upgrade` of some code, and do not wait for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "upgrade", "--json"],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(upgrade: "subprocess.Popen[bytes]") -> dict[str, object]:
    """Return what an upgrade said, on whichever of the two."""
    said, complained = upgrade.communicate(timeout=60)
    found = json.loads(said or complained)
    assert isinstance(found, dict)
    return found


@contextlib.contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """Make two folders for copies."""
    with tempfile.TemporaryDirectory(prefix="hfc") as folder:
        yield Path(folder) / "old", Path(folder) / "new"
