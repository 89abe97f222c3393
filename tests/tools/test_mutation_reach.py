"""Which tests reach what is found out once, file by file, and kept."""

from pathlib import Path

import pytest
from tools.mutation_reach import UNTIMED, find, load

from tools import mutation_reach

SOURCE = '''"""A module."""


def one():
    return 1


def two():
    return 2
'''
TEST = """
from holdfast.thing import {name}

def test_it():
    assert {name}()
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    package = tmp_path / "copy" / "src" / "holdfast"
    scenarios = tmp_path / "copy" / "tests" / "scenarios"
    for folder in (package, scenarios):
        folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "thing.py").write_text(SOURCE)
    (tmp_path / "copy" / "tests" / "test_one.py").write_text(TEST.format(name="one"))
    (scenarios / "test_two.py").write_text(TEST.format(name="two"))
    return tmp_path / "copy"


BATCHES = [["tests/test_one.py"], ["tests/scenarios/test_two.py"]]


def found(copy: Path, batches: list[list[str]]) -> mutation_reach.Reach:
    modules = [copy / "src" / "holdfast" / "thing.py"]
    return find(copy, batches, modules, copy.parent / "kept.json")


def test_a_file_of_unit_tests_is_one_unit_and_a_scenario_is_by_itself(
    copy: Path,
) -> None:
    reach = found(copy, BATCHES)

    assert reach.of("thing.py", "one") == ["tests/test_one.py"]
    assert reach.of("thing.py", "two") == ["tests/scenarios/test_two.py::test_it"]
    assert reach.of("thing.py", "three") == []
    assert 0 <= reach.seconds_of("tests/test_one.py") < UNTIMED
    assert reach.seconds_of("tests/unknown.py") == UNTIMED


def test_what_is_known_is_not_run_again_and_the_rest_is_added(copy: Path) -> None:
    found(copy, BATCHES[:1])
    (copy / "tests" / "test_one.py").unlink()
    (copy / "src" / "holdfast" / "thing.py").write_text(SOURCE)

    reach = found(copy, BATCHES)

    assert reach.of("thing.py", "one") == ["tests/test_one.py"]
    assert reach.of("thing.py", "two") == ["tests/scenarios/test_two.py::test_it"]
    assert load(copy.parent / "kept.json") == reach


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    assert load(tmp_path / "kept.json") == mutation_reach.Reach()
