import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux.programs import judge_environment, judge_program
from holdfast.linux.stored import places


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    before = dict(os.environ)
    os.environ["HOLDFAST_RUNTIME_DIR"] = str(tmp_path / "run")
    os.environ["HOLDFAST_CONFIG_DIR"] = str(tmp_path / "a {strange} 'place'")
    yield tmp_path
    os.environ.clear()
    os.environ.update(before)


def test_a_judge_is_isolated_and_told_where_plug_ins_are(own: Path) -> None:
    _, flag, _, program, last = judge_program()

    assert flag == "-I"
    assert repr(str(places.plugin_dir())) in program
    assert last == str(own / "run")


def test_a_judge_is_given_nothing_that_changes_which_code_it_loads(own: Path) -> None:
    os.environ.update(PYTHONPATH="/x", LD_PRELOAD="/x", SOME_KEY="x")

    given = judge_environment()

    assert given["HOLDFAST_CONFIG_DIR"] == os.environ["HOLDFAST_CONFIG_DIR"]
    assert not {"PYTHONPATH", "LD_PRELOAD", "SOME_KEY"} & given.keys()
    assert own.exists()
