import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import skip_budget

ROOT = Path(__file__).parents[2]


def run(folder: Path, test: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run one test file under the rules of this repository."""
    (folder / "test_one.py").write_text(test)
    words = ["-m", "pytest", "-q", "-p", "tests.conftest", f"--rootdir={folder}"]
    return subprocess.run(
        [sys.executable, *words, "-p", "no:cacheprovider", os.fspath(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.fspath(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_skip_that_is_not_named_fails_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "import pytest\ndef test_it(): pytest.skip('broken')\n")

    assert done.returncode == 1
    assert "SKIPPED, and may not be: test_one.py::test_it" in done.stdout


def test_a_run_without_skips_passes(tmp_path: Path) -> None:
    assert run(tmp_path, "def test_it(): pass\n").returncode == 0


def test_a_module_that_hangs_when_it_is_imported_ends_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "while True: pass\n", HOLDFAST_TEST_COLLECTION="0.5")

    assert done.returncode != 0
    assert "collecting took over 0.5 seconds" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "fact", [skip_budget.lacks_exec_notices, skip_budget.lacks_cgroups]
)
def test_what_is_looked_for_runs_none_of_our_code(fact: object) -> None:
    words = "import sys; from tests import skip_budget as b; b.{0}(); print(sum("
    words += "name.startswith('holdfast') for name in sys.modules))"
    name = getattr(fact, "__name__", "")
    done = subprocess.run(
        [sys.executable, "-c", words.format(name)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "0\n"
