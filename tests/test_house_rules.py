import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "holdfast"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
NAMES = {".".join(("holdfast", *one.with_suffix("").parts)) for one in MODULES}
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_LINES = 600
MAX_TEST_LINES = 400
MAX_IMPORTS = 20
PURE = ("model", "wire", "crypto", "term", "core")
WORDS_NOT_USED = {
    "base",
    "common",
    "data",
    "handler",
    "helpers",
    "impl",
    "info",
    "manager",
    "misc",
    "utils",
}


def test_no_module_outgrows_the_limit() -> None:
    assert [one for one in MODULES if _lines(SOURCE / one) > MAX_LINES] == []


def test_no_test_file_outgrows_the_limit() -> None:
    assert [str(one) for one in TESTS if _lines(one) > MAX_TEST_LINES] == []


def test_no_module_is_named_for_nothing() -> None:
    words = {module: set(module.with_suffix("").parts) for module in MODULES}

    assert [one for one, parts in words.items() if WORDS_NOT_USED & parts] == []


def test_every_pure_module_with_code_has_a_test_file_of_its_name() -> None:
    with_code = [
        module
        for module in MODULES
        if module.parts[0] in PURE
        and module.name != "__init__.py"
        and module.parent.name != "errors"
        and "def " in (SOURCE / module).read_text()
    ]
    tested = {path.relative_to(ROOT / "tests") for path in TESTS}

    untested = [
        one for one in with_code if one.with_name(f"test_{one.name}") not in tested
    ]

    assert with_code
    assert untested == []


def test_no_module_needs_too_many_others() -> None:
    counts = {one: len(_imports(one)) for one in MODULES}

    assert {one: count for one, count in counts.items() if count > MAX_IMPORTS} == {}


def test_no_program_of_ours_loads_code_from_the_folder_it_starts_in() -> None:
    starts = re.compile(r'"-m",\s+(?:\*module|"holdfast)')
    found = {one: (SOURCE / one).read_text() for one in MODULES}
    careless = [
        one
        for one, text in found.items()
        for start in starts.finditer(text)
        if not re.search(r'"-P",\s+$', text[: start.start()])
    ]

    assert any(starts.search(text) for text in found.values())
    assert careless == []


def test_every_module_says_what_it_is_for() -> None:
    starts = {module: (SOURCE / module).read_text()[:4] for module in MODULES}

    assert [
        m for m, text in starts.items() if not text.startswith(('"""', 'r"""'))
    ] == []


@pytest.mark.parametrize("name", ["frames", "versions"])
def test_what_the_keeper_needs_of_the_wire_is_standard_library_only(name: str) -> None:
    program = f"import sys, holdfast.wire.{name}; print('msgspec' in sys.modules)"

    loaded = subprocess.check_output([sys.executable, "-c", program], env={})

    assert loaded.strip() == b"False"


def test_asking_for_the_version_loads_little() -> None:
    program = "import sys, holdfast.version; print(len(sys.modules))"

    loaded = int(subprocess.check_output([sys.executable, "-c", program], env={}))

    assert loaded < 120


def test_no_registry_host_and_no_path_of_a_machine_is_committed() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607  # whichever git there is
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    hosts = re.compile(
        r"https?://[^/\s\"]*(pypi|pythonhosted|npmjs|debian)\.", re.IGNORECASE
    )
    own_path = str(ROOT)
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            text = path.read_text(errors="ignore")
            assert not hosts.search(text), name
            assert own_path not in text, name


def test_what_runs_before_a_commit_comes_from_here_alone() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()

    assert set(re.findall(r"repo: *(\S+)", hooks)) == {"local"}
    for program in re.findall(r"entry: (\S+)", hooks):
        assert (ROOT / program).exists() or program == "npm", program


def _imports(module: Path) -> set[str]:
    """Return which modules of ours a module imports: a name that is one, as itself."""
    found = set()
    for node in ast.walk(ast.parse((SOURCE / module).read_text())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{one.name}" for one in node.names}
            found |= {one if one in NAMES else str(node.module) for one in inside}
    return {one for one in found if one.startswith("holdfast.")}


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())
