"""Run tests beside others; try once more, alone, the few that failed.

What waits for real processes waits in vain on a machine that stands still for
seconds. So what fails beside others is tried again by itself. What fails twice is
broken. What passes alone is named at the end: it depends on the machine's speed, and
should be mended so that it does not.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FEW = 12
"""Tests that may fail by bad luck. Each may take two minutes when it is tried again,
and all together must not keep CI from its end; more are a fault in any case."""

SOME_FAILED = 1
"""What pytest exits with when tests failed and it has run them all."""

_ALONE = ("-n", "0", "--last-failed", "--last-failed-no-failures", "none")


def run(words: tuple[str, ...], *beside: str, root: Path = ROOT) -> int:
    """Run `words`, which are Python's and end in pytest's; return the exit status.

    `beside` are options for the first time only.
    """
    kept = root / ".pytest_cache" / "v" / "cache" / "lastfailed"
    kept.unlink(missing_ok=True)  # Others may have failed some other time.
    status = _python(root, *words, *beside)
    failed = sorted(json.loads(kept.read_text())) if kept.exists() else []
    if status != SOME_FAILED or not failed:
        return status
    if len(failed) > FEW:
        print(f"{len(failed)} failed: too many for bad luck, none is tried again")
        return status
    print(f"{len(failed)} failed beside others; each is tried alone", flush=True)
    status = _python(root, *words, *_ALONE)
    if status == 0:
        print("passed alone, and failed beside others:", *failed, sep="\n  ")
    return status


def environment() -> dict[str, str]:
    """Return the environment for tests: what is compiled once is kept.

    Otherwise each runner compiles all tests, and each process that a test starts
    compiles holdfast: half of what starting it costs.
    """
    forbidding = "PYTHONDONTWRITEBYTECODE"
    return {name: word for name, word in os.environ.items() if name != forbidding}


def _python(root: Path, *words: str) -> int:
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=root, env=environment(), check=False).returncode
