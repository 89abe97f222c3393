"""Run tests on one changed module after the other, without starting anew each time.

Its parent writes a line of JSON for each trial, and reads one: the test that
failed, "hanging", "a crash", or nothing. What takes long to load is loaded once; then
each trial is a fork, in which the changed text stands for the module. A process that a
test starts loads the module as it is on the disk.
"""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import hypothesis.stateful
import hypothesis.strategies
import msgspec
import pytest

LOADED = (hypothesis.stateful, hypothesis.strategies, msgspec)
"""What every trial needs, and nothing of ours."""

WORDS = (
    *("-x", "-q", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning", "--timeout=60"),
)


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, with another text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        self._name, self._path, self._text = name, path, text

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self._path)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self._path
        code = compile(self._text, self._path, "exec")
        exec(code, module.__dict__)  # noqa: S102  # that is how a module is loaded


class _First:
    """Keeps the first test that failed."""

    failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


def main() -> None:
    """Answer until nobody asks any more."""
    for line in sys.stdin:
        asked = json.loads(line)
        found = _tried(asked)
        print(json.dumps(found), flush=True)


def _tried(asked: dict[str, object]) -> str:
    into, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(into)
        os.setsid()
        _child(asked, out)
    os.close(out)
    ready, _, _ = select.select([into], [], [], float(str(asked["limit"])))
    found = os.read(into, 4096).decode() if ready else "hanging"
    os.close(into)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if found == "passed":
        return ""
    return found or "a crash"


def _child(asked: dict[str, object], out: int) -> None:
    quiet = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(quiet, fd)
    first, status = _First(), 1
    path = Path(str(asked["path"]))
    name = ".".join(["holdfast", *Path(str(asked["module"])).with_suffix("").parts])
    sys.meta_path.insert(0, _Changed(name, os.fspath(path), str(asked["text"])))
    tests = asked["tests"]
    assert isinstance(tests, list)  # noqa: S101  # our parent wrote it
    try:
        status = pytest.main([*WORDS, *tests], plugins=[first])
    finally:
        is_fine = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        os.write(out, (first.failed or ("passed" if is_fine else "a crash")).encode())
        os._exit(0)


if __name__ == "__main__":
    main()
