"""The planted bugs must still have a place, or nothing is tried by them."""

from pathlib import Path

import pytest
from tools.mutants import MUTANTS
from tools.mutation_sites import planted, sites
from tools.planted_bugs import BUGS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "holdfast"

PLACES = [
    *((one.name, one.module, old) for one in MUTANTS for old, _ in one.edits),
    *((one.name, one.module, one.old) for one in BUGS),
]


@pytest.mark.parametrize(("name", "module", "old"), PLACES)
def test_each_planted_bug_has_its_place(name: str, module: str, old: str) -> None:
    assert (SOURCE / module).read_text().count(old) == 1, name


def test_each_planted_bug_has_tests_that_are_there() -> None:
    named = [test for one in (*MUTANTS, *BUGS) for test in one.tests]

    assert [test for test in named if not (ROOT / test).is_file()] == []


def test_no_two_bugs_have_the_same_name() -> None:
    names = [one.name for one in (*MUTANTS, *BUGS)]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if a and b:\n    c()\n", 5),
        ("MAX_SPANS = 512\n", 0),
        ("WAIT: Final = 8 * 1024\n", 0),
        ("spans = 512\n", 1),
        ("UNKNOWN = Origin(0)\n", 1),
        ('"""Text."""\n', 0),
        ("x = min(a, 1)\n", 2),
        ("return_ = not a\n", 1),
        ("del a, b\n", 0),
        ("del a[1:]\n", 1),
        ("zip(a, b, strict=True)\n", 1),
    ],
)
def test_a_mistake_is_one_change_of_one_place(source: str, found: int) -> None:
    made = [planted(source, one) for one in sites(source)]

    assert len(made) == found
    assert source not in made
    for text in made:
        compile(text, "changed", "exec")
