import os
import signal

import pytest
from tests.linux.trees import eventually, leader

from holdfast.linux import processes
from holdfast.linux.process_table import read_process

LEAVES_ITS_SESSION = """
import os, sys, time
inside, outside = os.pipe()
left, gone = os.pipe()
if os.fork() == 0:
    stays = os.fork()
    if stays == 0:
        os.setpgid(0, 0)  # As a shell does for every job.
        os.write(outside, b"%d %d" % (os.getppid(), os.getpid()))
        time.sleep(60)
    os.setsid()
    os.write(gone, b"!")
    time.sleep(60)
os.read(left, 1)
print(os.read(inside, 100).decode(), flush=True)
sys.stdin.read()
"""
"""Prints a process that has left the session, and a child of it that has not."""


def _is_dead(pid: int) -> bool:
    found = read_process(pid)
    return found is None or found.is_dead


def test_a_child_of_whoever_left_the_session_is_killed_and_its_parent_is_not() -> None:
    with leader(LEAVES_ITS_SESSION) as tree:
        left, stayed = tree.pids()

        assert processes.kill_session(tree.pid) == 2
        eventually("what stayed is dead", lambda: _is_dead(stayed))
        assert not _is_dead(left)
        os.kill(left, signal.SIGKILL)


def test_what_a_dead_leader_left_is_killed() -> None:
    with leader(LEAVES_ITS_SESSION) as tree:
        left, stayed = tree.pids()
        os.kill(tree.pid, signal.SIGKILL)
        eventually("the leader is dead", lambda: _is_dead(tree.pid))
        os.waitpid(tree.pid, 0)

        assert processes.kill_session(tree.pid) == 1
        eventually("what stayed is dead", lambda: _is_dead(stayed))
        os.kill(left, signal.SIGKILL)


def test_a_session_that_nobody_is_of_has_nothing_to_kill() -> None:
    with leader("input()") as tree:
        os.kill(tree.pid, signal.SIGKILL)
        os.waitpid(tree.pid, 0)

        assert processes.kill_session(tree.pid) == 0
        with pytest.raises(ProcessLookupError):
            os.kill(tree.pid, 0)


def test_whoever_has_ended_is_not_alive_collected_or_not() -> None:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    assert processes.is_alive(pid)

    os.close(writer)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert not processes.is_alive(pid)
    os.waitpid(pid, 0)
    assert not processes.is_alive(pid)
    os.close(reader)
