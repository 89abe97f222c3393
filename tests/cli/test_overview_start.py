"""`holdfast` alone: an overview on a terminal, else the list; and only there."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.kernel import evidence
from tests.cli.support.screens import seen
from tests.cli.test_start import SLOW, loaded

from holdfast.cli.main import main

SOURCE = Path(__file__).parents[2] / "src" / "holdfast"
OVERVIEW = ("holdfast.cli.overview", "holdfast.core.overview", "holdfast.term.canvas")

FIRST_PICTURE = """
import sys
import holdfast.cli.overview.start
print(*sorted(sys.modules))
"""


def test_without_a_terminal_it_is_the_list(
    web: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    del web
    assert main([]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("NAME")
    assert "web" in shown


def test_as_somebody_else_it_is_the_list_too(
    keeper: FakeKeeper, web: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    del keeper, web
    monkeypatch.setenv("HOLDFAST_AS", "robo")

    assert main(["--as", "robo"]) == 0


@pytest.mark.parametrize("verb", ["attach", "ls", "new", "screen", "state"])
def test_no_verb_that_begins_early_loads_the_overview(
    verb: str, web: FakeSession
) -> None:
    web.operating.kernel.states = [evidence("running")]
    web.screen = [seen("text")]
    words = {"ls": [], "new": ["--detach"]}.get(verb, ["web"])

    assert not {one for one in loaded(verb, *words) if one.startswith(OVERVIEW)}


def test_only_the_command_without_a_verb_loads_the_overview_and_only_then() -> None:
    importers = set()
    for path in SOURCE.rglob("*.py"):
        name = ".".join(("holdfast", *path.relative_to(SOURCE).with_suffix("").parts))
        tree = ast.parse(path.read_text())
        if not name.startswith(OVERVIEW[:2]):
            at_once = {node for node in tree.body if _imports_it(node)}
            assert not at_once, f"{name} loads the overview at once"
            if any(map(_imports_it, ast.walk(tree))):
                importers.add(name)

    assert importers == {"holdfast.cli.main", "holdfast.cli.start"}


def test_the_first_picture_is_drawn_with_what_loads_quickly() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE],
        capture_output=True,
        text=True,
        check=True,
    )

    slow = SLOW - {"selectors"} | {"holdfast.sdk", "holdfast.cli.main"}
    assert not slow & set(run.stdout.split())


def _imports_it(node: ast.AST) -> bool:
    match node:
        case ast.Import(names):
            found = [one.name for one in names]
        case ast.ImportFrom(module, names):
            found = [f"{module}.{one.name}" for one in names]
        case _:
            return False
    return any(one.startswith(OVERVIEW[:2]) for one in found)
