from pathlib import Path

import pytest

from holdfast.linux.real_paths import (
    MAX_ENTRIES,
    MAX_FITTING,
    RealPaths,
    home,
    own_folders,
)
from holdfast.model.policy_questions import NamedPath


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    (root / "src" / "sub").mkdir(parents=True)
    (root / "secret").mkdir()
    (root / "src" / "a.py").touch()
    (root / "src" / "link").symlink_to(root / "secret")
    (root / "src" / "near").symlink_to("../secret")
    (root / "src" / "loop").symlink_to("loop")
    return root


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("a.py", "src/a.py"),
        ("./sub/../a.py", "src/a.py"),
        ("..", ""),
        ("link/x", "secret/x"),
        ("near/x", "secret/x"),
        ("sub/../near/x/y", "secret/x/y"),
        ("link/..", ""),
        ("nothing/here", "src/nothing/here"),
        ("a.py/x", "src/a.py/x"),
        ("", "src"),
        ("x" * 300, "src/" + "x" * 300),
    ],
)
def test_every_link_is_followed(folder: Path, path: str, real: str) -> None:
    found = RealPaths(str(folder / "src"), {}).of(NamedPath("", path))

    assert found == (str(folder / real),)


def test_what_cannot_be_told_is_not_told(folder: Path) -> None:
    here = RealPaths(str(folder / "src"), {"sub": str(folder / "src/sub")})

    assert here.of(NamedPath("", "loop")) is None
    assert here.of(NamedPath("", "nothing/../../x")) is None
    assert here.of(NamedPath("gone", "x")) is None
    assert here.of(NamedPath("gone", "/")) == ("/",)
    assert here.of(NamedPath("sub", "../a.py")) == (str(folder / "src/a.py"),)
    assert RealPaths(None, {}).of(NamedPath("", "x")) is None


def test_nothing_is_followed_through_proc(folder: Path) -> None:
    here = RealPaths(str(folder), {})

    assert here.real("/proc/self/cwd/x") == "/proc/self/cwd/x"
    (folder / "back").symlink_to("/proc/self/root")
    assert here.real(f"{folder}/back/etc") == "/proc/self/root/etc"
    assert here.real("/proc/self/../x") is None


def test_names_that_begin_and_end_alike_are_followed_each(folder: Path) -> None:
    here = RealPaths(str(folder / "src"), {})

    assert here.of(NamedPath("", "", ".py")) == (
        str(folder / "src/*.py"),
        str(folder / "src/a.py"),
    )
    assert here.of(NamedPath("", "l", "")) is None  # one leads in a circle
    assert here.of(NamedPath("", "li", "")) == (
        str(folder / "src/li*"),
        str(folder / "secret"),
    )
    deeper = here.of(NamedPath("", "../s", "/a.py"))
    assert deeper is not None
    assert set(deeper[1:]) == {str(folder / "src/a.py"), str(folder / "secret/a.py")}
    assert here.of(NamedPath("", "gone/", "")) == (str(folder / "src/gone/*"),)
    assert here.of(NamedPath("", "loop/", "")) is None
    absolute = here.of(NamedPath("", f"{folder}/src/a", ".py"))
    assert absolute == (str(folder / "src/a*.py"), str(folder / "src/a.py"))


def test_a_name_that_looks_like_an_option_makes_them_unknown(folder: Path) -> None:
    (folder / "src" / "-n.py").touch()
    here = RealPaths(str(folder / "src"), {})

    assert here.of(NamedPath("", "", ".py")) is None
    assert here.of(NamedPath("", "./", ".py")) is not None


def test_a_name_that_a_shell_would_cut_makes_them_unknown(folder: Path) -> None:
    (folder / "src" / "x .. y.py").touch()
    here = RealPaths(str(folder / "src"), {})

    assert here.of(NamedPath("", "", ".py")) is None
    assert here.of(NamedPath("", "a", ".py")) is not None


def test_what_begins_with_a_dot_may_be_the_folder_above(folder: Path) -> None:
    found = RealPaths(str(folder / "src"), {}).of(NamedPath("", ".", ""))

    assert found is not None
    assert {str(folder), str(folder / "src")} <= set(found)


def test_a_shell_may_pass_over_the_case_of_letters(folder: Path) -> None:
    found = RealPaths(str(folder / "src"), {}).of(NamedPath("", "A", ".PY"))

    assert found is not None
    assert str(folder / "src/a.py") in found


def test_too_many_names_are_unknown(folder: Path) -> None:
    for number in range(MAX_FITTING + 1):
        (folder / "secret" / f"{number}.x").touch()
    here = RealPaths(str(folder / "secret"), {})

    assert here.of(NamedPath("", "", ".x")) is None
    assert here.of(NamedPath("", "1", ".x")) is not None
    assert MAX_ENTRIES > MAX_FITTING


def test_our_own_folders_are_known() -> None:
    assert all(path.startswith("/") for path in own_folders())
    assert len(own_folders()) == 3
    assert home() == str(Path.home().resolve())
