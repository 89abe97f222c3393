"""Which code a process of ours is started with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.keeper.code import Code, present


def test_this_code_is_found_first_and_other_copies_of_it_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, others = tmp_path / "copy", tmp_path / "others"
    (copy / "holdfast").mkdir(parents=True)
    others.mkdir()
    path = os.pathsep.join(["", str(copy), str(others)])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("OF_OURS", "kept")

    found = Code("python", "/root").environment()

    assert found["PYTHONPATH"] == os.pathsep.join(["/root", str(others)])
    assert found["OF_OURS"] == "kept"
    monkeypatch.delenv("PYTHONPATH")
    assert Code("python", "/root").environment()["PYTHONPATH"] == "/root"


def test_the_present_code_is_the_one_that_runs() -> None:
    code = present()

    assert code.python == sys.executable
    program = "import holdfast; print(holdfast.__file__)"
    ran = subprocess.run(
        [code.python, "-c", program],
        env=code.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == holdfast.__file__


def test_a_program_of_it_is_started_with_a_descriptor_and_nothing_to_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "told.py").write_text(
        "import os, sys; os.write(int(sys.argv[1]), sys.stdin.read().encode() + b'hi')"
    )
    reading, writing = os.pipe()

    pid = Code(sys.executable, str(tmp_path)).start("told", str(writing), fd=writing)

    os.close(writing)
    said = os.read(reading, 100)
    os.close(reading)
    assert said == b"hi"
    assert os.waitpid(pid, 0) == (pid, 0)


def test_an_interpreter_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        Code("/nowhere/python", "/root").start("told", fd=0)
