"""Plant known bugs, one at a time, and see whether the simulator or a test notices.

A test that has never failed proves nothing. Each mutant is a bug that could really be
written; it is planted in a copy of the source, and the simulator runs until it names a
violation or MAX_SEEDS have passed. Where a mutant names tests, those have to fail
instead. Every one of them must be found; a program that merely does not start has
found nothing.

    python -m tools.mutants             all of them
    python -m tools.mutants seize       those whose name contains "seize"
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.capsule_bugs import CAPSULE_BUGS
from tools.planted_bugs import BUGS
from tools.simulated_bugs import SIMULATED_BUGS, Mutant

SOURCE = Path(__file__).resolve().parent.parent / "src"

ROOT = SOURCE.parent

MAX_SEEDS = 80
TIMEOUT = 240.0

MUTANTS = (*SIMULATED_BUGS, *CAPSULE_BUGS)


def main(arguments: list[str]) -> int:
    """Try the mutants whose name contains the argument, or all of them."""
    tested = [
        Mutant(one.name, one.module, ((one.old, one.new),), one.tests) for one in BUGS
    ]
    every = [*MUTANTS, *tested]
    wanted = [m for m in every if not arguments or arguments[0] in m.name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(_try, wanted))
    lived = [
        m.name for m, was_found in zip(wanted, found, strict=True) if not was_found
    ]
    print(f"{sum(found)} of {len(wanted)} planted bugs found")
    for name in lived:
        print(f"not found: {name}")
    return 1 if lived or not wanted else 0


def _try(mutant: Mutant) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy(copy)
        _plant(mutant, copy / "src" / "holdfast" / mutant.module)
        story = _tested(copy, mutant.tests) if mutant.tests else _simulate(copy / "src")
    print(f"{'found ' if story else 'LIVES '} {mutant.name:<46} {story}", flush=True)
    return bool(story)


def _copy(place: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "webpage")
    for name in ("src", "tests", "tools", "docs"):
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", place)


def _tested(copy: Path, tests: tuple[str, ...]) -> str:
    """Return which test failed, or '' if none did."""
    words = ["-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    try:
        run = subprocess.run(
            [sys.executable, *words, *tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src")},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAILED ")]
    return failed[0].split(" - ")[0].removeprefix("FAILED ")[:90] if failed else ""


def _plant(mutant: Mutant, module: Path) -> None:
    text = module.read_text()
    for old, new in mutant.edits:
        if text.count(old) != 1:
            sys.exit(
                f"{mutant.name}: stands {text.count(old)} times in {module}: {old}"
            )
        text = text.replace(old, new)
    module.write_text(text)


def _simulate(copy: Path) -> str:
    """Return how the simulator complained, or '' if it did not."""
    command = [sys.executable, "-m", "holdfast.testing.sim", "--jobs", "1", "--stop"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        run = subprocess.run(
            [*command, "--seeds", str(MAX_SEEDS)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    if run.returncode == 0:
        return ""
    lines = [line for line in run.stdout.splitlines() if line.startswith("seed ")]
    return lines[0][:90] if lines else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
