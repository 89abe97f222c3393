import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WEB = Path(__file__).parent.parent.parent / "web"
PATIENCE = 300
"""Seconds for all of them on a busy machine."""

pytestmark = [
    pytest.mark.timeout(PATIENCE + 20),
    pytest.mark.skipif(
        not (WEB / "node_modules").is_dir() or shutil.which("node") is None,
        reason="`make web` installs what the page is tested with",
    ),
]


def twin_tests(*folders: str) -> "subprocess.CompletedProcess[str]":
    """Run tests of the page's own in Node, and return what came of them."""
    runner = WEB / "node_modules" / "vitest" / "vitest.mjs"
    return subprocess.run(
        [str(shutil.which("node")), str(runner), "run", "--no-color", *folders],
        cwd=WEB,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "HOLDFAST_PYTHON": sys.executable, "CI": "true"},
    )


def test_the_twin_agrees_with_every_vector() -> None:
    done = twin_tests("tests/protocol", "tests/platform")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_twin_works_with_a_real_relay_and_host_whatever_is_cut() -> None:
    done = twin_tests("tests/end-to-end")

    assert done.returncode == 0, done.stdout + done.stderr
