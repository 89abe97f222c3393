import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from holdfast.verify import processes

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = b"HOLDFAST_RUNTIME_DIR=/nowhere/of-the-tests"


@pytest.fixture
def sleeper() -> "Iterator[subprocess.Popen[bytes]]":
    name, _, value = MARK.decode().partition("=")
    with subprocess.Popen(["/bin/sleep", "60"], env={name: value}) as made:
        yield made
        made.kill()


@pytest.fixture
def stranger() -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(["/bin/sleep", "60"], env={}) as made:
        yield made
        made.kill()


def test_a_process_is_its_pid_and_its_start() -> None:
    ours = processes.process(os.getpid())

    assert ours is not None
    assert ours.pid == os.getpid()
    assert ours.started > 0
    assert processes.parent(os.getpid()) == os.getppid()


def test_one_that_is_dead_is_none(sleeper: "subprocess.Popen[bytes]") -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)

    assert processes.process(sleeper.pid) is None
    sleeper.wait()
    assert processes.process(sleeper.pid) is None
    assert processes.parent(sleeper.pid) == 0
    assert not processes.kill(sleeper.pid, MARK)


def test_only_what_bears_the_mark_is_killed(
    sleeper: "subprocess.Popen[bytes]", stranger: "subprocess.Popen[bytes]"
) -> None:
    assert not processes.kill(stranger.pid, MARK)
    assert not processes.send(stranger.pid, signal.SIGKILL, MARK)
    assert processes.kill(sleeper.pid, MARK)

    assert sleeper.wait() == -signal.SIGKILL
    assert stranger.poll() is None


def test_all_that_bear_the_mark_are_found_and_killed(
    sleeper: "subprocess.Popen[bytes]", stranger: "subprocess.Popen[bytes]"
) -> None:
    assert list(processes.marked(MARK)) == [sleeper.pid]

    assert processes.kill_all(MARK) == 1

    assert sleeper.wait() == -signal.SIGKILL
    assert stranger.poll() is None
    assert processes.kill_all(MARK) == 0


def test_an_argument_with_the_folder_is_a_mark_as_well(
    stranger: "subprocess.Popen[bytes]",
) -> None:
    folder = MARK.partition(b"=")[2].decode()
    words = ["/bin/sh", "-c", "read x", "painter", folder]
    with subprocess.Popen(words, env={}, stdin=subprocess.PIPE) as painter:
        assert list(processes.marked(MARK)) == [painter.pid]
        assert processes.kill(painter.pid, MARK)
    assert stranger.poll() is None
