from pathlib import Path

import pytest

from holdfast.linux import own_command


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin/python"


def install(python: Path) -> Path:
    command = python.with_name("holdfast")
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    return command


def test_a_folder_of_ours_has_our_command_and_nothing_else(python: Path) -> None:
    command = install(python)

    folder = Path(own_command.folder(str(python)))
    assert [one.readlink() for one in folder.iterdir()] == [command]
    assert own_command.folder(str(python)) == str(folder)


def test_another_version_takes_its_place(python: Path) -> None:
    install(python)
    own_command.folder(str(python))
    other = python.parent.parent / "other/python"
    other.parent.mkdir()
    command = install(other)

    folder = Path(own_command.folder(str(other)))
    assert [one.readlink() for one in folder.iterdir()] == [command]


def test_where_it_is_not_installed_there_is_no_folder(python: Path) -> None:
    assert own_command.folder(str(python)) == ""
    assert not (python.parent.parent / "run").exists()


def test_a_place_that_is_not_ours_is_not_used(python: Path) -> None:
    install(python)
    run = python.parent.parent / "run"
    run.mkdir()
    run.chmod(0o777)

    assert own_command.folder(str(python)) == ""
