"""An sdist has all that a clean environment needs: no Node.js, no checkout."""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.leftovers import end_everything

from holdfast.version import __version__

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "src" / "holdfast" / "webpage"
PATIENCE = 300
"""Seconds to build and to install on a busy machine."""

pytestmark = [
    pytest.mark.timeout(3 * PATIENCE),
    pytest.mark.skipif(
        not (ROOT / "web" / "node_modules").is_dir() or shutil.which("npm") is None,
        reason="the page cannot be built without what `make web` installs",
    ),
]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return the programs of an environment with a wheel that an sdist became."""
    place = tmp_path
    done("sh", str(ROOT / "tools" / "build-web"), "--if-needed")
    packer = Path(sys.executable).with_name("hatchling")
    done(str(packer), "build", "-t", "sdist", "-d", str(place), folder=str(ROOT))
    (packed,) = place.glob("*.tar.gz")
    venv.create(place / "clean", with_pip=True, clear=True)
    programs = place / "clean" / "bin"
    done(str(programs / "python"), "-m", "pip", "install", "--quiet", str(packed))
    return programs


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder with a path short enough for sockets."""
    made = tempfile.mkdtemp(prefix="hf")
    yield Path(made)
    end_everything(made)
    shutil.rmtree(made, ignore_errors=True)


def done(*words: str, folder: str = "/", **variables: str) -> str:
    """Run a program, outside the checkout unless it is named; return its output."""
    kept = {name: os.environ[name] for name in os.environ if "PYTHON" not in name}
    ran = subprocess.run(
        words,
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, (words, ran.stdout[-2000:], ran.stderr[-2000:])
    return ran.stdout


def test_a_wheel_from_the_sdist_works_in_a_clean_environment(
    installed: Path, folder: Path
) -> None:
    is_the_release(installed)
    brings_the_page(installed)
    brings_an_example_policy(installed)
    carries_a_session(installed, folder)


def is_the_release(installed: Path) -> None:
    told = done(str(installed / "holdfast"), "--version")
    place = done(str(installed / "python"), "-c", "import holdfast as h; print(h)")

    assert told == f"holdfast {__version__}\n"
    assert str(installed.parent) in place


def brings_the_page(installed: Path) -> None:
    program = (
        "from holdfast.linux.stored.webpage import built_page as b; print(b() or '')"
    )
    found = Path(done(str(installed / "python"), "-c", program).strip())

    assert names(found) == names(PAGE)
    assert "index.html" in names(found)


def carries_a_session(installed: Path, folder: Path) -> None:
    holdfast, own = str(installed / "holdfast"), places(folder)

    done(holdfast, "new", "--detach", "--name", "it", "--", "cat", **own)
    done(holdfast, "send", "it", "--enter", "hello", **own)
    done(holdfast, "wait", "it", "--for", "hello", **own)
    done(holdfast, "end", "it", **own)


def places(folder: Path) -> dict[str, str]:
    return {
        "HOLDFAST_RUNTIME_DIR": str(folder),
        "HOLDFAST_CONFIG_DIR": str(folder / "config"),
    }


def brings_an_example_policy(installed: Path) -> None:
    assert "[[rule]]" in done(str(installed / "holdfast"), "gate", "example")


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
