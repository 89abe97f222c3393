"""Make small mistakes in the source, one at a time, and count how many tests notice.

    python tools/mutation.py --part pure --sample 100 --seed 7
    python tools/mutation.py core/policy.py core/staged.py --sample 40
    python tools/mutation.py --part processes --sample 30 --show

A mistake is found if a test fails, if nothing can be imported any more, or if the
tests hang. It lives if the tests of its module pass, and those of everything that
stands on it (WIDER) pass too. Unlike tools/mutants.py, which plants a list of known
bugs, this draws from every place where a mistake can be made; the seed repeats it.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutation_sites import Site, planted, sites

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"

PARTS = {
    "pure": ("model", "wire", "crypto", "term", "core"),
    "processes": ("keeper", "holder", "host", "relay", "judge", "mcp", "client", "sdk"),
}

WIDER = {
    "core": ("tests/core", "tests/docs/test_policy_spec.py"),
    "model": ("tests/model", "tests/core"),
    "wire": ("tests/wire", "tests/core"),
    "term": ("tests/term", "tests/core"),
    "crypto": ("tests/crypto", "tests/wire"),
}
"""What else is run before a mistake in a package counts as alive. Of the packages that
are not named these are the scenarios whose names fit, from SCENARIOS."""

SCENARIOS = {
    "keeper": (
        "kill",
        "nothing_of_ours",
        "new_code",
        "down",
        "runs_out",
        "bad_packets",
    ),
    "holder": (
        "judged",
        "one_writes",
        "wheel",
        "approval",
        "record",
        "ends",
        "kill_amid",
    ),
    "host": ("elsewhere", "invited", "host_may_die", "revoked"),
    "relay": ("relay",),
    "judge": ("judge", "plugins"),
    "mcp": ("agent",),
    "client": ("verb", "cut", "terminal", "sign"),
    "sdk": ("agent", "watch", "needs_me"),
}

LIMIT = 240.0
"""Seconds for one set of tests: several times what the slowest takes by itself."""

WORD = 90


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake in one module."""

    module: Path
    site: Site

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.module.relative_to(PACKAGE)}:{self.site.line}"


def main(arguments: list[str]) -> int:
    """Try a sample; return 1 if fewer were found than wanted."""
    options = _options(arguments)
    chosen = _chosen(options)
    print(f"{len(chosen)} mistakes, seed {options.seed}", flush=True)
    _demand_green(chosen)
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda one: _try(one, show=options.show), chosen))
    share = 100 * sum(found) / max(1, len(found))
    spent = time.monotonic() - began
    print(f"{sum(found)} of {len(found)} found, {share:.1f} %, in {spent:.0f} s")
    return 0 if share >= options.wanted else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="below src/holdfast")
    parser.add_argument("--part", choices=PARTS, default="pure")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--wanted", type=float, default=0.0, help="per cent")
    parser.add_argument("--show", action="store_true", help="print those found as well")
    return parser.parse_args(arguments)


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    if options.modules:
        modules = [PACKAGE / name for name in options.modules]
    else:
        packages = PARTS[options.part]
        modules = [
            path for name in packages for path in sorted((PACKAGE / name).rglob("*.py"))
        ]
    every = [
        Mutant(module, site) for module in modules for site in sites(module.read_text())
    ]
    chance = random.Random(options.seed)  # noqa: S311  # to be repeated, not guessed
    return chance.sample(every, min(options.sample, len(every)))


def _demand_green(chosen: list[Mutant]) -> None:
    """See that the nearest tests pass as the source is; else nothing is proven."""
    nearest = sorted({test for one in chosen for test in _tests(one)[0]})
    with tempfile.TemporaryDirectory(prefix="mutant") as folder:
        _copy(Path(folder))
        how = _run(Path(folder), nearest)
    if how:
        sys.exit(f"the source fails as it is: {how}")


def _try(mutant: Mutant, *, show: bool) -> bool:
    with tempfile.TemporaryDirectory(prefix="mutant") as folder:
        copy = Path(folder)
        _copy(copy)
        module = copy / mutant.module.relative_to(ROOT)
        module.write_text(planted(mutant.module.read_text(), mutant.site))
        how = next((how for tests in _tests(mutant) if (how := _run(copy, tests))), "")
    if show or not how:
        line = mutant.module.read_text().splitlines()[mutant.site.line - 1].strip()
        word = f"found by {how}" if how else "LIVES"
        print(
            f"{word:<12} {mutant.place}: {mutant.site.what}: {line[:WORD]}", flush=True
        )
    return bool(how)


def _copy(place: Path) -> None:
    """Copy what the repository has: some tests read all of it."""
    listed = subprocess.run(
        ("git", "ls-files", "--cached", "--others", "--exclude-standard"),  # noqa: S607  # whichever git there is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)


def _tests(mutant: Mutant) -> list[list[str]]:
    """Return the sets of tests that get a chance to notice, the nearest first."""
    package = mutant.module.relative_to(PACKAGE).parts[0]
    stem = mutant.module.stem
    own = sorted((ROOT / "tests" / package).glob(f"test_{stem}*.py"))
    nearest = [os.fspath(path.relative_to(ROOT)) for path in own]
    if package in WIDER:
        wider = [*WIDER[package]]
    else:
        words = SCENARIOS.get(package, ())
        found = sorted((ROOT / "tests" / "scenarios").glob("test_*.py"))
        wider = [
            os.fspath(path.relative_to(ROOT))
            for path in found
            if any(word in path.name for word in words)
        ]
        wider = [f"tests/{package}", *wider]
    return [one for one in (nearest, wider) if one]


def _run(copy: Path, tests: list[str]) -> str:
    """Return how the tests noticed, or "" if they did not."""
    words = [
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n0",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.fspath(copy / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    present = [one for one in tests if (copy / one).exists()]
    if not present:
        return ""
    program = subprocess.Popen(
        [sys.executable, *words, *present],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = program.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, 9)
        program.communicate()
        return "hanging"
    if program.returncode in (0, 5):
        return ""
    failed = [
        line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))
    ]
    return failed[0].split(" - ")[0].partition(" ")[2][:WORD] if failed else "a crash"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
