"""A command with a key is typed once, and its end is known, whoever is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import ended, run, shell, wait_phase
from tests.scenarios.support import Machine, eventually, machine

from holdfast.cli.main import main
from holdfast.core.client.command_output import Ran  # noqa: TC001  # read by people too
from holdfast.model.ids import SessionId


@pytest.fixture(scope="module")
def ours() -> Iterator[Machine]:
    with machine() as made:
        yield made


def started(session: SessionId, line: str, key: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "run", session, "--key", key, line],
        stdout=subprocess.PIPE,
    )


def test_a_killed_client_is_repeated_and_told_what_the_first_did(
    ours: Machine, tmp_path: Path
) -> None:
    session = shell(ours, tmp_path)
    line = f"echo x >> {tmp_path}/ran; while [ ! -e {tmp_path}/go ]; do :; done; pwd"
    first = started(session, line, "once")
    eventually("it runs", (tmp_path / "ran").exists)
    first.kill()
    first.communicate()

    again = started(session, line, "once")
    (tmp_path / "go").touch()
    printed, _ = again.communicate(timeout=20)
    assert (again.returncode, printed) == (0, f"{tmp_path}\n".encode())
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.parametrize("times", [1, 3])
def test_a_killed_holder_leaves_the_command_and_its_end_known(
    ours: Machine, tmp_path: Path, times: int
) -> None:
    session = shell(ours, tmp_path)
    line = (
        f"echo x >> {tmp_path}/ran; while [ ! -e {tmp_path}/go ]; do :; done; (exit 6)"
    )
    found: list[Ran] = []
    waiting = threading.Thread(target=lambda: found.append(run(session, line, "k")))
    waiting.start()
    eventually("it runs", (tmp_path / "ran").exists)

    for _ in range(times):
        ours.replace_holder(session)
    (tmp_path / "go").touch()
    waiting.join()
    assert found[0].command.status == 6
    assert run(session, line, "k").command == found[0].command
    assert (tmp_path / "ran").read_text() == "x\n"


def test_a_successor_counts_from_the_beginning_that_is_on_record(
    ours: Machine, tmp_path: Path
) -> None:
    session = shell(ours, tmp_path)
    user = ours.join(session)
    entered_at = time.monotonic()
    user.enter(f"until [ -e {tmp_path}/go ]; do :; done\r".encode())
    # A holder that is killed before it has read of the beginning tells nobody.
    wait_phase(session, "running")
    seen_at = time.monotonic()

    ours.replace_holder(session)
    least = time.monotonic() - seen_at
    (tmp_path / "go").touch()
    duration = ended(session, 1).duration_ms / 1000
    # Halved and doubled: the logbook has the wall clock, which may be corrected.
    assert least / 2 < duration < (time.monotonic() - entered_at) * 2


def test_what_ended_while_nobody_held_the_session_has_its_status(
    ours: Machine, tmp_path: Path
) -> None:
    session = shell(ours, tmp_path)
    user = ours.join(session)
    user.enter(f"until [ -e {tmp_path}/go ]; do :; done; (exit 4)\r".encode())
    wait_phase(session, "running")
    holder = ours.pid("holder", session)
    os.kill(holder, signal.SIGSTOP)
    (tmp_path / "go").touch()
    os.kill(holder, signal.SIGKILL)

    assert ended(session, 1).status == 4
    wait_phase(session, "prompt")
    assert run(session, "echo $?").output == b"4\r\n"


def test_a_successor_finds_the_prompt_that_nobody_ran_anything_at(
    ours: Machine, tmp_path: Path
) -> None:
    session = shell(ours, tmp_path)
    ours.replace_holder(session)

    assert run(session, "echo first").output == b"first\r\n"
    assert ended(session, 1).line == "echo first"


def test_many_commands_one_after_the_other_are_all_run(
    ours: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = shell(ours, tmp_path)

    for number in range(70):
        assert main(["run", session, f"echo {number}"]) == 0
        assert capsys.readouterr().out == f"{number}\n"
