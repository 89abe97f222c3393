"""Run the scenarios, two at a time; try once more, alone, the few that failed.

A scenario waits for real processes, and a machine that stands still for seconds
makes it wait in vain. So what fails beside others is tried again by itself. What
fails twice is broken. What passes alone is named at the end: it depends on the
machine's speed, and should be mended so that it does not.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("tests/scenarios", "tests/painter")
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"

FAILURES_TRIED_AGAIN = 3
"""More than that is no bad luck."""

SOME_FAILED = 1
"""What pytest exits with when tests failed and nothing else went wrong."""


def main() -> int:
    """Run all; return 0 if each passed, if only by itself."""
    FAILED.unlink(missing_ok=True)
    status = _pytest("-n", "2")
    if status != SOME_FAILED:
        return status
    failed = sorted(json.loads(FAILED.read_text()))
    if len(failed) > FAILURES_TRIED_AGAIN:
        return status
    print(f"{len(failed)} failed beside others; each is tried alone", flush=True)
    status = _pytest("-n", "0", "--last-failed", "--last-failed-no-failures", "none")
    if status == 0:
        print("passed alone, and failed beside others:", *failed, sep="\n  ")
    return status


def _pytest(*options: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", *options, *FOLDERS]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
