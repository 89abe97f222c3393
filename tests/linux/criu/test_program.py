import os
from pathlib import Path

import pytest

from holdfast.linux.criu import program

NOWHERE = Path("/nonexistent")


def say_version(folder: Path, text: str, mode: int = 0o755) -> Path:
    """Put a program into the folder that answers as a CRIU of some version does."""
    folder.mkdir(exist_ok=True)
    made = folder / "criu"
    made.write_text(f"#!/bin/sh\nprintf '{text}\\n'\n")
    made.chmod(mode)
    return made


def test_the_first_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    old = say_version(tmp_path / "old", "Version: 4.1.1")
    new = say_version(tmp_path / "new", "Version: 4.2.1\\nGitID: v4.2.1")

    found = program.find(f"{old.parent}:{new.parent}", NOWHERE)

    assert found.program == program.Program((str(new),), (4, 2, 1))
    assert str(found.program) == f"CRIU 4.2.1 ({new})"


def test_one_that_is_too_old_is_named_with_what_is_needed(tmp_path: Path) -> None:
    old = say_version(tmp_path / "old", "Version: 3.17.1")
    found = program.find(str(old.parent), NOWHERE)
    assert found == (None, f"{old} is 3.17.1; CRIU 4.2 or newer is needed")


@pytest.mark.parametrize("said", ["", "Version: new", "usage: criu"])
def test_one_that_gives_no_version_is_not_run(tmp_path: Path, said: str) -> None:
    made = say_version(tmp_path / "odd", said)
    found = program.find(str(made.parent), NOWHERE)
    assert found.program is None
    assert "does not say its version" in found.why_not


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_one_that_others_may_write_is_not_even_asked(tmp_path: Path, mode: int) -> None:
    trap = tmp_path / "asked"
    made = say_version(tmp_path / "open", "Version: 9")
    made.write_text(f"#!/bin/sh\ntouch {trap}\necho Version: 9\n")
    made.chmod(mode)

    found = program.find(str(made.parent), NOWHERE)

    assert found.program is None
    assert f"{made} can be written by others" in found.why_not
    assert not trap.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
def test_one_of_another_user_is_not_even_asked(tmp_path: Path) -> None:
    made = say_version(tmp_path / "theirs", "Version: 9")
    os.chown(made, 65534, 65534)
    found = program.find(str(made.parent), NOWHERE)
    assert found.program is None
    assert f"{made} belongs to another user" in found.why_not


def test_a_relative_folder_of_the_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say_version(tmp_path / "here", "Version: 9")
    monkeypatch.chdir(tmp_path)
    assert program.find("here:", NOWHERE) == (None, "no CRIU here")


def test_a_link_is_followed_to_the_program_that_is_run(tmp_path: Path) -> None:
    real = say_version(tmp_path / "real", "Version: 4.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "criu").symlink_to(real)
    found = program.find(str(tmp_path / "bin"), NOWHERE)
    assert found.program == program.Program((str(real),), (4, 2))


def test_a_private_root_is_started_by_its_own_loader(tmp_path: Path) -> None:
    command = program.private_command(tmp_path)
    assert command is not None, "an untried processor"
    loader, option, libraries, criu = command
    assert Path(loader).parent == Path(libraries)
    assert (option, criu) == ("--library-path", str(tmp_path / "usr/sbin/criu"))
