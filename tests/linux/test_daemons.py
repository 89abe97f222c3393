import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.trees import SESSION, eventually

from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.daemons import Daemons, names_of
from holdfast.linux.process_table import Process, read_process

MOUNTS = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")


def started(
    session: str = "", words: tuple[str, ...] = ("sleep", "300")
) -> "subprocess.Popen[bytes]":
    """Start a process in a kernel session of its own."""
    env = {"PATH": os.environ["PATH"]}
    if session:
        env["HOLDFAST_SESSION"] = session
    made = subprocess.Popen(words, env=env, start_new_session=True)
    # Amid its exec a process has no environment.
    environment = Path(f"/proc/{made.pid}/environ")
    eventually("it has its environment", lambda: bool(environment.read_bytes()))
    return made


@pytest.fixture
def processes() -> Iterator[list["subprocess.Popen[bytes]"]]:
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for one in found:
        one.kill()
        one.wait()


Processes = list["subprocess.Popen[bytes]"]


def numbers(found: list[Process]) -> list[int]:
    return [one.pid for one in found]


def test_what_names_the_session_belongs_to_it_and_no_other(
    processes: Processes,
) -> None:
    processes += [started(SESSION), started("s_other"), started()]

    found = Daemons(SESSION, None).find()

    assert numbers(found) == [processes[0].pid]
    assert names_of(found) == f"sleep ({processes[0].pid})"


def test_what_had_no_environment_yet_is_looked_at_again(processes: Processes) -> None:
    daemons = Daemons(SESSION, None)
    code = f"""
import os, sys
sys.stdin.read(1)
os.execve("/bin/sleep", ["sleep", "300"], {{"HOLDFAST_SESSION": "{SESSION}"}})
"""
    waiting = subprocess.Popen(
        ["/usr/bin/env", "-i", sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    processes.append(waiting)
    assert daemons.find() == []

    assert waiting.stdin is not None
    waiting.stdin.write(b"x")
    waiting.stdin.close()
    eventually("it is found", lambda: numbers(daemons.find()) == [waiting.pid])


def test_what_is_told_and_killed_ends(processes: Processes) -> None:
    daemons = Daemons(SESSION, None)
    processes += [started(SESSION), started(SESSION)]
    processes[0].send_signal(signal.SIGSTOP)
    seen: list[Process] = []
    daemons.tell(signal.SIGTERM, seen.extend)
    assert len(seen) == 2
    assert [one.wait() for one in processes] == [-signal.SIGTERM] * 2

    processes.append(started(SESSION))
    assert numbers(daemons.kill(seen.extend)) == [processes[2].pid]
    assert processes[2].wait() == -signal.SIGKILL
    assert daemons.kill(seen.extend) == []
    assert len(seen) == 3


def test_whoever_is_gone_has_no_name() -> None:
    process = read_process(os.getpid())
    assert process is not None

    assert names_of([process._replace(pid=2**22 + 1)]) == f"? ({2**22 + 1})"


@pytest.fixture
def cgroup() -> Iterator[SessionCgroup]:
    """Make a cgroup, where this test may: found out without the code under test."""
    places = (Path(one) for one in MOUNTS)
    root = next((one for one in places if (one / "cgroup.procs").exists()), None)
    if root is None or not os.access(root / "cgroup.procs", os.W_OK):
        pytest.skip("no cgroup can be made here")
    made = SessionCgroup(root / f"holdfast-test-{os.getpid()}")
    made.folder.mkdir()
    yield made
    eventually("it is empty", lambda: not made.pids())
    made.folder.rmdir()


def test_what_is_in_the_cgroup_belongs_whatever_it_calls_itself(
    cgroup: SessionCgroup, processes: Processes
) -> None:
    keeper = ("sh", "-c", "sleep 300; :", "holdfast.keeper")
    processes += [started(), started("s_other"), started("", keeper), started()]
    for one in processes[:3]:
        cgroup.settle(one.pid)

    found = Daemons(SESSION, cgroup).find()

    # Also what says that it is a keeper, or another session's.
    assert numbers(found) == [one.pid for one in processes[:3]]
    for one in processes:
        one.kill()
        one.wait()
    for pid in cgroup.pids():
        os.kill(pid, signal.SIGKILL)
