"""Run every test but the scenarios, and demand full coverage of the pure packages.

Three workers on two cores, which is what the smallest machine has: much of the time
goes by waiting for real processes. Their coverage is put together at the end. What a
property runs depends on the day's seed, so it does not count: an ordinary test has to
run it, too, whatever is drawn. Then comes the web page: built if it is not, and tried
by Node. In a real browser it works with real processes, so that is for `make scenarios`
(`--browser`); the tests of one file share a machine, and so a worker. `--page` is all
about the page and nothing else. Tests that are named are run alone.
"""

import os
import shutil
import subprocess
import sys

from tools.tried_again import FEW, ROOT

from tools import tried_again

SCENARIOS = ("scenarios", "painter", "web", "acceptance")
"""Folders whose tests run real processes: `make scenarios` and `make acceptance`."""

UNAVAILABLE = 69
"""Exit status when something is not installed here, as sysexits.h has it."""

CHROMIUM = os.environ.get("CHROMIUM", "chromium")

WORKERS = ("-n", "3")

COVERED_TESTS = ("-m", "coverage", "run", "-m", "pytest")

BROWSER_TESTS = ("-m", "pytest", "-q", "tests/web")
BESIDE_OTHERS = ("-n", "2", "--dist", "loadfile", f"--maxfail={FEW + 1}")

PURE = ("model", "wire", "crypto", "term", "core")
PROCESSES = (
    "keeper",
    "holder",
    "host",
    "relay",
    "judge",
    "client",
    "sdk",
    "mcp",
    "cli",
)

PROCESSES_COVERED = 78
"""Per cent of the process packages that these tests run in their own processes. What
the scenarios run is not in it: there they are killed, and tell nobody what they ran."""


def main(arguments: list[str]) -> int:
    """Run everything, or pytest with whatever else was asked for."""
    match arguments:
        case ["--page"]:
            return _page() or _browser()
        case ["--browser"]:
            return _build() or _browser()
        case []:
            return _tests(arguments) or _page()
        case _:
            return _tests(arguments)


def _tests(arguments: list[str]) -> int:
    for left_over in ROOT.glob(".coverage*"):
        left_over.unlink()
    skipped = [f"--ignore=tests/{folder}" for folder in SCENARIOS]
    if arguments:
        tests = _python(*COVERED_TESTS, *WORKERS, *skipped, *arguments)
    else:
        # Real terminals and processes are among these, too.
        tests = tried_again.run((*COVERED_TESTS, *skipped), *WORKERS)
    if tests != 0:
        return tests
    _python("-m", "coverage", "combine", "-q")
    # Both are shown, whatever the first says.
    covered = [
        _report(PURE, 100),
        _report(PROCESSES, PROCESSES_COVERED, "--format=total"),
    ]
    return max(covered)


def _report(packages: tuple[str, ...], wanted: int, *more: str) -> int:
    print(
        f"branches of {', '.join(packages)} that were tried, in per cent:", flush=True
    )
    files = ",".join(f"src/holdfast/{name}/*" for name in packages)
    words = (f"--include={files}", f"--fail-under={wanted}", *more)
    return _python("-m", "coverage", "report", *words)


def _page() -> int:
    built = _build()
    if built != 0:
        return built
    for what in ("lint", "test"):
        tried = _run("npm", "--prefix", "web", "run", "--silent", what)
        if tried != 0:
            return tried
    return 0


def _build() -> int:
    # As root it gets npm by itself; else it says so.
    return _run("sh", "tools/build-web", "--if-needed")


def _browser() -> int:
    if shutil.which(CHROMIUM) is None:
        sys.stderr.write(
            f"the web page cannot be tried without {CHROMIUM}:"
            " apt-get install chromium, or set CHROMIUM\n"
        )
        return UNAVAILABLE
    return tried_again.run(BROWSER_TESTS, *BESIDE_OTHERS)


def _python(*words: str) -> int:
    return _run(sys.executable, *words)


def _run(*words: str) -> int:
    environment = tried_again.environment()
    return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
