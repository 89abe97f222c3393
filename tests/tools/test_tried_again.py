from pathlib import Path

import pytest
from tools.tried_again import FEW, SOME_FAILED, run

PYTEST = ("-m", "pytest", "-q", "-p", "xdist")

LUCK = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_luck(number):
    tries = Path(__file__).with_name(f"tries-{{number}}")
    tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
    assert tries.read_text() == {wanted!r}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Nine runs: each loads what it needs, and nothing else.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_fine.py").write_text("def test_fine(): pass\n")
    return tmp_path


def tries(place: Path) -> list[str]:
    return [one.read_text() for one in sorted(place.glob("tries-*"))]


def test_what_passes_alone_passes_and_is_named(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "test_luck.py").write_text(LUCK.format(count=2, wanted="xx"))

    assert run(PYTEST, "-n", "1", root=place) == 0
    assert tries(place) == ["xx"] * 2
    said = capfd.readouterr().out
    assert "2 failed beside others; each is tried alone" in said
    named = said.partition("passed alone, and failed beside others:")[2].split()
    assert named == ["test_luck.py::test_luck[0]", "test_luck.py::test_luck[1]"]


def test_what_fails_twice_fails(place: Path) -> None:
    (place / "test_luck.py").write_text(LUCK.format(count=1, wanted="xxx"))

    assert run(PYTEST, root=place) == SOME_FAILED
    assert tries(place) == ["xx"]


def test_more_than_a_few_are_not_tried_again(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "test_luck.py").write_text(LUCK.format(count=FEW + 1, wanted="xx"))

    assert run(PYTEST, root=place) == SOME_FAILED
    assert tries(place) == ["x"] * (FEW + 1)
    assert "too many for bad luck" in capfd.readouterr().out


def test_what_failed_some_other_time_is_not_tried_again(place: Path) -> None:
    (place / "test_luck.py").write_text(LUCK.format(count=1, wanted="xxx"))
    run(PYTEST, root=place)

    assert run((*PYTEST, "test_fine.py"), root=place) == 0
    assert tries(place) == ["xx"]


def test_a_run_that_broke_off_is_not_tried_again(place: Path) -> None:
    (place / "test_luck.py").write_text("nonsense")

    assert run(PYTEST, root=place) not in (0, SOME_FAILED)


def test_what_is_compiled_is_kept_though_the_caller_keeps_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    assert run(PYTEST, root=place) == 0
    assert list(place.glob("__pycache__/test_fine*.pyc"))
