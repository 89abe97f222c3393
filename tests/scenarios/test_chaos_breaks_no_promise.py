"""Whatever strikes while people and agents work, no promise is broken.

A short run, without moves; `make chaos MINUTES=3` is the long one, with them.
"""

import subprocess
import sys
from pathlib import Path

from tests.chaos.history import read


def test_a_few_seconds_of_every_kind_of_fault_break_no_promise(tmp_path: Path) -> None:
    words = ("--seconds", "8", "--seed", "1", "--no-moves", "--keep", str(tmp_path))

    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.run", *words],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "no promise was broken" in done.stdout
    lines = read(tmp_path / "chaos-1.jsonl")
    applied = [one for one in lines if one.get("outcome") == "applied"]
    injected = [one for one in lines if one["do"] == "fault" and not one["skipped"]]
    assert applied
    assert injected
