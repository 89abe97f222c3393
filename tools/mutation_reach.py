"""Which tests reach which function?

A copy of the source is made in which each function says, once for each test, that it
was called; then the tests are run on it. A process that a test starts knows the test
by PYTEST_CURRENT_TEST, and what it says is on the disk at once, so that nothing is
lost when it is killed. A file of tests is one unit, for a machine may be shared by all
of them; a scenario is one by itself.
"""

import ast
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_Function = ast.FunctionDef | ast.AsyncFunctionDef

SAID = "reached.txt"
TIMES = "times.xml"

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

    units: dict[str, list[str]]
    seconds: dict[str, float]

    def of(self, module: str, function: str) -> list[str]:
        """Return the units that reach a function, or a whole module; quick ones first.

        A place outside of every function is in the function "".
        """
        wanted = {f"{module}:{function}"}
        if not function:
            wanted = {one for one in self.units if one.startswith(f"{module}:")}
        found = {unit for one in wanted for unit in self.units.get(one, ())}
        return sorted(found, key=lambda unit: (self.seconds.get(unit, 0.0), unit))


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


def find(copy: Path, tests: list[str], modules: list[Path], kept: Path) -> Reach:
    """Run tests on a copy of the repository, whose source is changed; keep what is."""
    said = copy / SAID
    for module in modules:
        name = module.relative_to(copy / "src" / "holdfast")
        module.write_text(instrumented(module.read_text(), os.fspath(name), said))
    subprocess.run(
        (
            *(sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile"),
            *("-p", "no:randomly", "-p", "no:cacheprovider"),
            *("-o", "junit_family=xunit1", f"--junitxml={copy / TIMES}", *tests),
        ),
        cwd=copy,
        env={**os.environ, "PYTHONPATH": os.fspath(copy / "src")},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    reach = _read(said, copy / TIMES)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps([reach.units, reach.seconds]))
    return reach


def load(kept: Path) -> Reach:
    """Return what was found out before."""
    units, seconds = json.loads(kept.read_text())
    return Reach(units, seconds)


def _read(said: Path, times: Path) -> Reach:
    units: dict[str, set[str]] = defaultdict(set)
    for line in said.read_text().splitlines():
        test, _, function = line.partition("\t")
        units[function].add(_unit(test))
    seconds: dict[str, float] = defaultdict(float)
    for case in ET.parse(times).iter("testcase"):  # noqa: S314  # pytest wrote it
        test = f"{case.get('file')}::{case.get('name')}"
        seconds[_unit(test)] += float(case.get("time", "0"))
    return Reach({one: sorted(found) for one, found in units.items()}, dict(seconds))


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
