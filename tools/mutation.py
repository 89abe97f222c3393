"""Make small mistakes in the source, one at a time, and count how many tests notice.

    python -m tools.mutation --part pure --sample 100 --seed 7
    python -m tools.mutation 'core/policy/policy*.py' --sample 40
    python -m tools.mutation --part processes --sample 30 --show

First the tests are run once, on a copy that tells which of them reach which function
(tools/mutation_reach.py). What was found out is kept, so that only files of scenarios
that have not been run yet are run the next time; `--again` forgets it all, which is
due when tests were moved, `--reach` stops there, and `--known` makes do with what is
kept and says what is missing.

A mistake is then tried by the tests that reach its function, unit tests first and
after them scenarios, the quick ones first. It is found if one fails, if nothing can be
imported any more, or if they hang. Of what lives it is said how many scenarios were
left out for want of time. A test that fails on the source as it is has found nothing:
those that found something are run on that too, at the end. Nor has anything been found
where no test can be run: that is tried with the source as it is, before and after.

Unlike tools/mutants.py, which plants a list of known bugs, this draws from every place
where a mistake can be made; the seed repeats it.
"""

import argparse
import compileall
import contextlib
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutation_reach import (
    Reach,
    end_everything,
    function_around,
    is_scenario,
    is_test,
)
from tools.mutation_sites import Site, planted, sites

from tools import mutation_reach

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"
KEPT = ROOT / ".work" / "mutation"

PARTS = {
    "pure": ("model", "wire", "crypto", "term", "core"),
    "processes": ("keeper", "holder", "host", "relay", "judge", "mcp", "client", "sdk"),
}

TESTS = {
    "pure": [
        *("tests/model", "tests/wire", "tests/crypto", "tests/term", "tests/core"),
        *("tests/docs/test_policy_spec.py", "tests/docs/test_example_policy.py"),
    ],
    "processes": [
        *(f"tests/{name}" for name in PARTS["processes"]),
        *("tests/cli", "tests/linux"),
    ],
}
"""What is run together to find out which tests reach what."""

SCENARIOS = {"pure": "", "processes": "tests/scenarios/test_*.py"}
"""What is run for that file by file, afterwards."""

UNIT_BUDGET = 60.0
"""Seconds that the unit tests of a function may take together."""

BUDGET = 90.0
"""Seconds that its scenarios may: beyond that the slowest are left out."""

PATIENCE = 60
"""Seconds until a test counts as hanging: many times what the slowest takes."""

LIMIT = 900.0
"""Seconds until a run of many does."""

WORD = 90

SURE = "tests/holder/test_timers.py"
"""Tests that pass wherever tests can be run."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake in one module."""

    module: Path
    site: Site

    @property
    def name(self) -> str:
        """The module's name below the package."""
        return os.fspath(self.module.relative_to(PACKAGE))

    def __str__(self) -> str:
        line = self.module.read_text().splitlines()[self.site.line - 1].strip()
        return f"{self.name}:{self.site.line}: {self.site.what}: {line[:WORD]}"


def main(arguments: list[str]) -> int:
    """Try a sample; return 1 if fewer were found than wanted."""
    options = _options(arguments)
    chosen = _chosen(options)
    reach = _reach(options)
    if options.reach:
        return 0
    print(f"{len(chosen)} mistakes, seed {options.seed}", flush=True)
    began = time.monotonic()
    copies: queue.SimpleQueue[_Copy] = queue.SimpleQueue()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants"))
        for number in range(options.jobs):
            copy = _Copy(Path(folder) / str(number), is_pure=options.part == "pure")
            stack.callback(copy.close)
            copies.put(copy)
        budget = options.budget if options.scenarios else 0.0
        trial = _Trial(reach, copies, budget, options.show)
        _demand_sound(folder)
        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(trial.run, chosen))
        found = _honest(chosen, found, copies.get().place)
        _demand_sound(folder)
    count = sum(map(bool, found))
    share = 100 * count / max(1, len(found))
    spent = time.monotonic() - began
    print(f"{count} of {len(found)} found, {share:.1f} %, in {spent:.0f} s")
    return 0 if share >= options.wanted else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="below src/holdfast; globs")
    parser.add_argument("--part", choices=PARTS, default="pure")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--wanted", type=float, default=0.0, help="per cent")
    parser.add_argument("--again", action="store_true", help="forget the reach")
    parser.add_argument("--reach", action="store_true", help="find out that alone")
    parser.add_argument("--known", action="store_true", help="with the reach kept")
    parser.add_argument("--no-scenarios", dest="scenarios", action="store_false")
    parser.add_argument("--budget", type=float, default=BUDGET, help="of scenarios")
    parser.add_argument("--show", action="store_true", help="print those found as well")
    return parser.parse_args(arguments)


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    patterns = options.modules or [f"{name}/**/*.py" for name in PARTS[options.part]]
    modules = {path for one in patterns for path in PACKAGE.glob(one)}
    every = [
        Mutant(module, site)
        for module in sorted(modules)
        for site in sites(module.read_text())
    ]
    chance = random.Random(options.seed)  # noqa: S311  # to be repeated, not guessed
    return chance.sample(every, min(options.sample, len(every)))


def _reach(options: argparse.Namespace) -> Reach:
    kept = KEPT / f"{options.part}.json"
    if options.again:
        kept.unlink(missing_ok=True)
    batches = [TESTS[options.part]]
    if options.scenarios and SCENARIOS[options.part]:
        files = sorted(ROOT.glob(SCENARIOS[options.part]))
        batches += [[os.fspath(path.relative_to(ROOT))] for path in files]
    if options.known:
        reach = mutation_reach.load(kept)
        unknown = [one for one in batches if " ".join(one) not in reach.batches]
        print(f"{len(batches)} sets of tests, the reach of {len(unknown)} not known")
        return reach
    with tempfile.TemporaryDirectory(prefix="reach") as folder:
        copy = _copied(Path(folder))
        modules = [
            path
            for name in PARTS[options.part]
            for path in (copy / "src" / "holdfast" / name).rglob("*.py")
        ]
        return mutation_reach.find(copy, batches, modules, kept)


def _copied(place: Path) -> Path:
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
    return place


class _Copy:
    """A copy of the repository, in which one mutant is tried at a time."""

    def __init__(self, place: Path, *, is_pure: bool) -> None:
        self.place = _copied(place)
        compileall.compile_dir(place / "src", quiet=2)  # Once, and not at each start.
        self._is_pure = is_pure
        self._server = _served(self.place)

    def tried(self, mutant: Mutant, sets: list[list[str]]) -> str:
        """Return which of these tests found a mutant, or "" if none did."""
        source = mutant.module.read_text()
        text = planted(source, mutant.site)
        if self._is_pure:
            return next(
                (how for one in sets if (how := self._ask(mutant, text, one))), ""
            )
        # What tests start loads the module as well.
        module = self.place / mutant.module.relative_to(ROOT)
        before = module.stat()
        module.write_text(text)
        try:
            return next((how for one in sets if (how := self._found(one))), "")
        finally:
            module.write_text(source)
            os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _found(self, tests: list[str]) -> str:
        """Return which test fails, twice: a busy machine may have failed it once."""
        how = _run(self.place, tests)
        return _run(self.place, [how]) if is_test(how) else how

    def close(self) -> None:
        """End what runs there."""
        self._server.communicate()

    def _ask(self, mutant: Mutant, text: str, tests: list[str]) -> str:
        to, answers = self._server.stdin, self._server.stdout
        assert to is not None and answers is not None  # noqa: S101, PT018  # pipes
        path = self.place / mutant.module.relative_to(ROOT)
        asked = {"module": mutant.name, "path": os.fspath(path), "text": text}
        try:
            to.write(json.dumps({**asked, "tests": tests, "limit": LIMIT}) + "\n")
            to.flush()
            found: str = json.loads(answers.readline())
        except (BrokenPipeError, ValueError):  # It was killed by what it tried.
            self._server = _served(self.place)
            return "a crash"
        return found


def _served(copy: Path) -> "subprocess.Popen[str]":
    path = os.pathsep.join(2 * [os.fspath(copy / "src")])  # Told from what is ended.
    return subprocess.Popen(
        [sys.executable, "-m", "tools.mutation_server"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """Tries mutants, each in a copy that nobody else uses meanwhile."""

    reach: Reach
    copies: "queue.SimpleQueue[_Copy]"
    budget: float
    show: bool

    def run(self, mutant: Mutant) -> str:
        """Return which test found a mutant, or "" if none did."""
        sets, left_out = self._tests(mutant)
        copy = self.copies.get()
        try:
            how = copy.tried(mutant, sets)
        finally:
            self.copies.put(copy)
        if how and self.show:
            print(f"found by {how} {mutant}", flush=True)
        elif not how:
            rest = f", {left_out} scenarios not tried" if left_out else ""
            print(f"LIVES{rest} {mutant}", flush=True)
        return how

    def _tests(self, mutant: Mutant) -> tuple[list[list[str]], int]:
        """Return the sets of tests that get a chance, and how many scenarios do not.

        Unit tests come first, and of those the ones of the module itself.
        """
        package = mutant.name.partition("/")[0]
        own = sorted((ROOT / "tests" / package).rglob(f"test_{mutant.module.stem}*.py"))
        nearest = [os.fspath(path.relative_to(ROOT)) for path in own]
        around = function_around(mutant.module.read_text(), mutant.site.line)
        reaching = [
            unit
            for unit in self.reach.of(mutant.name, around)
            if unit not in nearest and (ROOT / unit.partition("::")[0]).is_file()
        ]
        every = [unit for unit in reaching if is_scenario(unit)]
        scenarios = self._within(every, self.budget)
        units = [unit for unit in reaching if not is_scenario(unit)]
        sets = [nearest, self._within(units, UNIT_BUDGET), scenarios]
        return [one for one in sets if one], len(every) - len(scenarios)

    def _within(self, units: list[str], seconds: float) -> list[str]:
        """Return as many units as there is time for."""
        chosen: list[str] = []
        for unit in units:
            seconds -= self.reach.seconds_of(unit)
            if seconds < 0:
                break
            chosen.append(unit)
        return chosen


def _demand_sound(folder: str) -> None:
    """Do nothing if tests can be run in a copy; else nothing was found out."""
    if how := _run(Path(folder) / "0", [SURE]):
        sys.exit(f"nothing can be said: {SURE} does not pass by itself: {how}")


def _honest(chosen: list[Mutant], found: list[str], copy: Path) -> list[str]:
    """Take back what was found by tests that fail on the source as it is."""
    named = sorted({*filter(is_test, found)})
    bad = {how for how in named if _run(copy, [how])} if _run(copy, named) else set()
    for mutant, how in zip(chosen, found, strict=True):
        if how in bad:
            print(f"LIVES, for {how} fails as it is: {mutant}", flush=True)
    return ["" if how in bad else how for how in found]


def _run(copy: Path, tests: list[str]) -> str:
    """Return how the tests noticed, or "" if they did not.

    Tests that were written since the copy was made are not there.
    """
    tests = [one for one in tests if (copy / one.partition("::")[0]).is_file()]
    if not tests:
        return ""
    words = (
        *("-x", "-q", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider"),
        f"--timeout={PATIENCE}",
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.fspath(copy / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # To a file: what tests leave behind would keep a pipe open.
    with tempfile.TemporaryFile("w+") as file:
        program = subprocess.Popen(
            [sys.executable, "-m", "pytest", *words, *tests],
            cwd=copy,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            program.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
            return "hanging"
        finally:
            end_everything(copy)
        file.seek(0)
        said = file.read()
    if program.returncode in (0, 5):
        return ""
    for line in said.splitlines():
        if line.startswith(("FAILED tests/", "ERROR tests/")):
            return line.partition(" ")[2].partition(" - ")[0]
    return "a crash"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
