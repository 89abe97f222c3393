import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.linux.default_shell import default_shell


@pytest.fixture
def bash(tmp_path: Path) -> str:
    program = tmp_path / "bash"
    program.touch(0o755)
    return os.fspath(program)


@pytest.mark.parametrize("chosen", ["/usr/bin/fish", "/bin/dash", "/bin/zsh"])
def test_a_shell_that_was_chosen_is_started(
    chosen: str, bash: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", chosen)

    assert default_shell(bash) == chosen


@pytest.mark.parametrize("unchosen", ["/bin/sh", "/usr/bin/sh"])
def test_bash_stands_in_for_a_shell_that_nobody_chose(
    unchosen: str, bash: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", unchosen)

    assert default_shell(bash) == bash


def test_without_bash_it_is_the_plain_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")

    assert default_shell(f"{tmp_path}/none") == "/bin/sh"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_an_account_has_a_shell_too() -> None:
    program = "from holdfast.linux.default_shell import *; print(default_shell())"

    said = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        user=54321,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )

    assert said.stdout.strip() in {"/bin/bash", "/bin/sh"}, said.stderr
