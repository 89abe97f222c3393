"""`run` shows output as it comes, on a terminal and through a pipe."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.shells import shell
from tests.scenarios.support import Machine, machine

from holdfast.model.ids import SessionId

BAR = r"for i in 10 20 30; do printf '\r%s%%' $i; done; echo; echo done"


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bash(here: Machine, tmp_path: Path) -> SessionId:
    return shell(here, tmp_path)


def piped(session: SessionId, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "run", session, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_pipe_gets_each_line_when_it_is_over(bash: SessionId, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with piped(bash, f"echo first; cat {gate}; echo last") as run:
        assert run.stdout is not None

        assert run.stdout.readline() == b"first\n"  # While `cat` waits for us.

        gate.write_bytes(b"middle\n")
        assert run.stdout.read() == b"middle\nlast\n"
        assert run.wait(20) == 0


def test_a_progress_bar_leaves_its_last_state_in_a_file(bash: SessionId) -> None:
    out, err = piped(bash, BAR).communicate(timeout=30)

    assert out == b"30%\ndone\n"
    assert err == b""


def test_a_terminal_sees_lines_replaced_and_a_sign_of_life(
    bash: SessionId, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    user = User("run", bash, f"{BAR}; cat {gate}", env={"TERM": "xterm"})

    user.sees(b"10%\r\x1b[K20%\r\x1b[K30%\r\ndone\r\n")
    user.sees(b" running for ")

    gate.write_bytes(b"over\n")
    user.sees(b"\r\x1b[Kover\r\n")
    assert user.left() == 0
    user.close()


def test_a_terminal_that_cannot_erase_gets_no_sign(bash: SessionId) -> None:
    user = User("run", bash, "sleep 1.5; echo over", env={"TERM": "dumb"})

    user.sees(b"over")
    assert user.left() == 0
    assert b"running for" not in user.shown
    user.close()


def test_json_is_bounded_and_has_both_ends(bash: SessionId) -> None:
    out, _ = piped(bash, "--json", "--max", "1000", "seq 1 100000").communicate()

    told = json.loads(out)
    assert told["head"].startswith("1\n2\n3\n")
    assert told["output"].endswith("99999\n100000\n")
    shown = len(told["head"]) + len(told["output"])
    assert shown <= 1000
    assert told["truncated"] == told["end"] - told["start"] - 1000


def test_everything_comes_once_though_the_holder_dies(
    here: Machine, bash: SessionId, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with piped(bash, f"seq 1 500; cat {gate}; seq 501 1000") as run:
        assert run.stdout is not None
        seen = [run.stdout.readline() for _ in range(500)]

        here.replace_holder(bash)
        gate.write_bytes(b"")

        seen += run.stdout.read().splitlines(keepends=True)
        assert run.wait(30) == 0
    assert seen == [f"{number}\n".encode() for number in range(1, 1001)]


def test_nothing_that_a_program_prints_is_obeyed(bash: SessionId) -> None:
    line = r"printf 'a\033]0;title\007\033[2Jb\033[31mc\033[0m\n'"
    out, _ = piped(bash, line).communicate(timeout=30)

    assert out == b"abc\n"
    raw, _ = piped(bash, "--raw", line).communicate(timeout=30)
    assert b"\x1b[2J" in raw
