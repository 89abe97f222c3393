"""Run every test but the scenarios, and demand full coverage of the pure packages.

Two workers, because that is what the smallest machine has; coverage of both is
put together at the end.
"""

import subprocess
import sys
from pathlib import Path

SCENARIOS = ("scenarios", "painter", "web", "acceptance")
"""Folders whose tests run real processes: `make scenarios`, `make web-check`,
`make acceptance`."""

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Run pytest under coverage with whatever else was asked for."""
    for left_over in ROOT.glob(".coverage*"):
        left_over.unlink()
    skipped = [f"--ignore=tests/{folder}" for folder in SCENARIOS]
    tests = _python(
        *("-m", "coverage", "run", "-m", "pytest", "-n", "2"), *skipped, *arguments
    )
    if tests != 0:
        return tests
    _python("-m", "coverage", "combine", "-q")
    return _python("-m", "coverage", "report")


def _python(*words: str) -> int:
    return subprocess.run([sys.executable, *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
