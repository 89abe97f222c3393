import os
import signal
import time
from collections.abc import Iterator

import pytest

from holdfast.linux import session_lock, shared_memory


@pytest.fixture
def memory() -> Iterator[int]:
    fd = shared_memory.create("test", 4096)
    yield fd
    os.close(fd)


def taker(memory: int) -> tuple[int, int]:
    """Fork a process that takes the grip; return its pid and what tells that it has."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        session_lock.take(memory)
        os.write(writer, b"!")
        signal.pause()
    os.close(writer)
    return pid, reader


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_a_grip_nobody_took_is_free(memory: int) -> None:
    assert session_lock.taken_by(memory) == 0


def test_what_cannot_be_locked_is_free() -> None:
    fd = os.open("/dev/null", os.O_PATH)

    assert session_lock.taken_by(fd) == 0
    os.close(fd)


def test_our_own_grip_is_not_another_s(memory: int) -> None:
    session_lock.take(memory)

    assert session_lock.taken_by(memory) == 0


def test_whoever_has_the_grip_is_known_until_it_dies(memory: int) -> None:
    pid, told = taker(memory)
    assert os.read(told, 1) == b"!"

    assert session_lock.taken_by(memory) == pid
    end(pid)
    assert session_lock.taken_by(memory) == 0
    os.close(told)


def test_the_next_gets_the_grip_when_the_first_is_killed(memory: int) -> None:
    first, told = taker(memory)
    assert os.read(told, 1) == b"!"
    second, heard = taker(memory)
    os.set_blocking(heard, False)
    with pytest.raises(BlockingIOError):
        os.read(heard, 1)
    assert session_lock.taken_by(memory) == first

    end(first)

    deadline = time.monotonic() + 5
    while session_lock.taken_by(memory) != second and time.monotonic() < deadline:
        os.sched_yield()
    assert session_lock.taken_by(memory) == second
    end(second)
    os.close(told)
    os.close(heard)


def test_a_child_of_whoever_has_the_grip_does_not_have_it(memory: int) -> None:
    session_lock.take(memory)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if session_lock.taken_by(memory) == os.getppid() else 1)

    assert os.waitpid(pid, 0)[1] == 0
