"""`holdfast verify`, run as people run it, in a folder where leftovers show."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.scenarios import broken_holdfast

from holdfast.verify.account import COMMAND

PATIENCE = 450


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for the accounts: a short name, since sockets lie in it."""
    place = Path(tempfile.mkdtemp(prefix="hv"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def environment(place: Path, broken: str = "") -> dict[str, str]:
    """Return what it is run with: whole, or with one promise broken."""
    variables = {**os.environ, "TMPDIR": str(place)}
    if broken:
        script = broken_holdfast.__file__
        variables[COMMAND] = f"{sys.executable} {script} {broken}"
    return variables


def command(*words: str) -> list[str]:
    """Return the words of the command."""
    return [sys.executable, "-P", "-m", "holdfast", "verify", *words]


def verified(place: Path, *words: str, broken: str = "") -> tuple[int, dict[str, Any]]:
    """Run it to its end; return its exit status and its report."""
    done = subprocess.run(
        command("--json", *words),
        env=environment(place, broken),
        stdout=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


def left(place: Path) -> list[str]:
    """Return what is left of the accounts: processes and files."""
    found = [str(one) for one in place.iterdir()]
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.name != str(os.getpid()):
                words = (entry / "environ").read_bytes().split(b"\0")
                words += (entry / "cmdline").read_bytes().split(b"\0")
                mark = f"{place}/".encode()
                if any(mark in word for word in words):
                    found.append((entry / "cmdline").read_bytes().decode())
    return found
