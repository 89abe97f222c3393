"""Finds out which tests reach which function.

A copy of the source is made in which each function says, once for each test, that it
was called; then the tests are run on it. A process that a test starts knows the test
by PYTEST_CURRENT_TEST, and what it says is on the disk at once, so that nothing is
lost when it is killed. A file of tests is one unit, for a machine may be shared by all
of them; a scenario is one by itself.

Scenarios take long, so they are run file by file, each with a time limit, and what was
found out is kept after each: a run that is broken off goes on where it was.
"""

import ast
import contextlib
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_Function = ast.FunctionDef | ast.AsyncFunctionDef

SAID = "reached.txt"
TIMES = "times.xml"

FILE_LIMIT = 150.0
"""Seconds for one file of scenarios; what it reached until then counts."""

ALL_LIMIT = 3600.0
"""Seconds for all unit tests together."""

UNTIMED = 30.0
"""Seconds that a test counts for if its file was cut off."""

_PRELUDE = """
def __reached__(name, _seen=set(), _os=__import__("os")):
    test = _os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if not test or (test, name) in _seen:
        return
    _seen.add((test, name))
    flags = _os.O_WRONLY | _os.O_APPEND | _os.O_CREAT | _os.O_CLOEXEC
    try:
        fd = _os.open({path!r}, flags, 0o600)
        _os.write(fd, f"{{test}}\\t{module}:{{name}}\\n".encode())
        _os.close(fd)
    except OSError:
        pass
"""


@dataclass(frozen=True, slots=True)
class Reach:
    """What was found out: the units of each function, and how long each takes."""

    units: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    batches: list[str] = field(default_factory=list)  # what was run, in words

    def seconds_of(self, unit: str) -> float:
        """Return how long a unit takes."""
        return self.seconds.get(unit, UNTIMED)

    def of(self, module: str, function: str) -> list[str]:
        """Return the units that reach a function, or a whole module; quick ones first.

        A place outside of every function is in the function "".
        """
        wanted = {f"{module}:{function}"}
        if not function:
            wanted = {one for one in self.units if one.startswith(f"{module}:")}
        found = {unit for one in wanted for unit in self.units.get(one, ())}
        return sorted(found, key=lambda unit: (self.seconds_of(unit), unit))


def function_around(source: str, line: int) -> str:
    """Return the name of the innermost function that holds a line, or ""."""
    found = [
        (node.lineno, name)
        for name, node in _functions(ast.parse(source))
        if node.lineno <= line <= (node.end_lineno or 0) and _place(node) is not None
    ]
    return max(found)[1] if found else ""


def instrumented(source: str, module: str, path: Path) -> str:
    """Return a module whose functions say that they were called."""
    tree = ast.parse(source)
    added: dict[int, list[str]] = defaultdict(list)
    for name, node in _functions(tree):
        place = _place(node)
        if place is not None:
            line, column = place
            added[line].append(f"{' ' * column}__reached__({name!r})")
    prelude = _PRELUDE.format(path=os.fspath(path), module=module)
    first = next((one for one in tree.body if not _is_text(one)), None)
    begin = 0 if first is None else _first_line(first)
    lines: list[str] = []
    for number, text in enumerate(source.splitlines(), 1):
        if number == begin:
            lines += prelude.splitlines()
        lines += [*added.get(number, ()), text]
    return "\n".join(lines) + "\n"


def find(
    copy: Path, batches: list[list[str]], modules: list[Path], kept: Path
) -> Reach:
    """Run what was not run before, on a copy whose source is changed; keep all."""
    reach = load(kept)
    missing = [batch for batch in batches if " ".join(batch) not in reach.batches]
    said = copy / SAID
    for module in modules if missing else ():
        name = module.relative_to(copy / "src" / "holdfast")
        module.write_text(instrumented(module.read_text(), os.fspath(name), said))
    for number, batch in enumerate(missing, 1):
        print(f"reach, {number} of {len(missing)}: {' '.join(batch)}", flush=True)
        said.write_text("")
        (copy / TIMES).unlink(missing_ok=True)
        _run(copy, batch, FILE_LIMIT if is_scenario(batch[0]) else ALL_LIMIT)
        _take(reach, said, copy / TIMES)
        reach.batches.append(" ".join(batch))
        _keep(reach, kept)
    return reach


def load(kept: Path) -> Reach:
    """Return what was found out before."""
    if not kept.is_file():
        return Reach()
    return Reach(*json.loads(kept.read_text()))


def end_everything(copy: Path) -> None:
    """Kill what tests that were killed have started from a copy."""
    mark = f"PYTHONPATH={copy / 'src'}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in environ.read_bytes().split(b"\0"):
                os.kill(int(environ.parent.name), signal.SIGKILL)


def _run(copy: Path, tests: list[str], limit: float) -> None:
    how = "load" if is_scenario(tests[0]) else "loadfile"
    program = subprocess.Popen(
        (
            *(sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", how),
            *("-p", "no:randomly", "-p", "no:cacheprovider"),
            *("-o", "junit_family=xunit1", f"--junitxml={copy / TIMES}", *tests),
        ),
        cwd=copy,
        env={**os.environ, "PYTHONPATH": os.fspath(copy / "src")},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        program.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        print(f"cut off after {limit:.0f} s", flush=True)
    finally:
        end_everything(copy)


def _keep(reach: Reach, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(".new")
    new.write_text(json.dumps([reach.units, reach.seconds, reach.batches]))
    new.replace(kept)


def _take(reach: Reach, said: Path, times: Path) -> None:
    for line in said.read_text().splitlines():
        test, _, function = line.partition("\t")
        known = reach.units.setdefault(function, [])
        if _unit(test) not in known:
            known.append(_unit(test))
    if not times.is_file():
        return
    seconds: dict[str, float] = defaultdict(float)
    for case in ET.parse(times).iter("testcase"):  # noqa: S314  # pytest wrote it
        test = f"{case.get('file')}::{case.get('name')}"
        seconds[_unit(test)] += float(case.get("time", "0"))
    reach.seconds.update(seconds)


def is_test(how: str) -> bool:
    """Tell whether a test is named, and not a crash or that something hangs."""
    return how.startswith("tests/")


def is_scenario(unit: str) -> bool:
    """Tell whether a unit is one test with real processes."""
    return unit.startswith("tests/scenarios/")


def _unit(test: str) -> str:
    return test if is_scenario(test) else test.partition("::")[0]


def _functions(within: ast.AST, name: str = "") -> Iterator[tuple[str, _Function]]:
    """Yield every function, by its name below the module: it outlives edits."""
    for node in ast.iter_child_nodes(within):
        inner = name
        if isinstance(node, _Function | ast.ClassDef):
            inner = f"{name}.{node.name}".lstrip(".")
        if isinstance(node, _Function):
            yield inner, node
        yield from _functions(node, inner)


def _place(node: _Function) -> tuple[int, int] | None:
    """Return before which line, and how far in, something can be said first."""
    body = [one for one in node.body if not _is_text(one)]
    if not body or _first_line(body[0]) == node.lineno:
        return None
    return _first_line(body[0]), body[0].col_offset


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
