"""A door: what is started when somebody knocks, and when it is looked at again."""

import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import eventually

from holdfast.keeper.service_sockets import PATIENT, Program, ServiceSocket
from holdfast.keeper.watched import Watched
from holdfast.linux import packets
from holdfast.model.errors import UnexpectedMessage

WRITES = 'readlink /proc/self/fd/0 > told; echo "$X $PWD" >> told; exec sleep 600'


class Entrance:
    """A door, with a shell behind it in place of a painter."""

    def __init__(self, folder: Path, words: Callable[[], list[str]]) -> None:
        self.selector = selectors.DefaultSelector()
        self.watched = Watched(lambda _: None)
        self.socket = folder / "door.sock"
        variables = {"X": "set", "PATH": os.environ["PATH"]}
        self.program = Program("doorman", self._socket, words, 1.0, lambda: variables)
        self.door = ServiceSocket(self.program, self.selector, watched=self.watched)
        self._callers = [self.door.listener]

    def _socket(self) -> Path:
        return self.socket

    def knock(self) -> None:
        """Have somebody connect, and the door look."""
        self._callers.append(packets.connect(self.socket, 5.0))
        self.look()

    def look(self) -> bool:
        """Tell whether there is something at the door, after seeing to it."""
        ready = self.selector.select(0)
        for key, events in ready:
            key.data(key.fileobj, events)
        return bool(ready)

    def collect(self) -> int:
        """Return the pid of the process behind the door, once it was killed."""
        pid = self.door.pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return pid

    def close(self) -> None:
        if self.door.pid:
            self.collect()
        for caller in self._callers:
            caller.close()
        self.selector.close()


def sleeper() -> list[str]:
    return ["sleep", "600"]


@pytest.fixture
def entrance(tmp_path: Path) -> Iterator[Entrance]:
    made = Entrance(tmp_path, sleeper)
    yield made
    made.close()


def test_nobody_is_started_before_somebody_knocks(entrance: Entrance) -> None:
    assert not entrance.look()
    assert entrance.door.pid == 0
    assert entrance.door.next_deadline() is None
    assert entrance.socket.stat().st_mode & 0o777 == 0o600


def test_who_knocks_has_one_process_started_that_has_the_socket(
    tmp_path: Path,
) -> None:
    words = ["sh", "-c", f"cd {tmp_path}; {WRITES}"]
    made = Entrance(tmp_path, lambda: words)
    made.knock()
    first = made.door.pid
    made.knock()

    assert first
    assert made.door.pid == first
    assert os.getsid(first) == first
    told = tmp_path / "told"
    eventually("it speaks", lambda: told.read_text().count("\n") == 2)
    found, said = told.read_text().splitlines()
    assert found.startswith("socket:")
    assert said.startswith("set ")
    assert made.watched.next_deadline() is not None
    made.close()


def test_after_a_death_the_next_who_knocks_has_another_started(
    entrance: Entrance,
) -> None:
    entrance.knock()
    first = entrance.collect()
    now = time.monotonic()
    entrance.door.ended(first + 1, now)
    assert entrance.door.pid == first
    entrance.door.ended(first, now)

    assert entrance.door.pid == 0
    assert entrance.watched.next_deadline() is None
    assert entrance.look()  # The one who knocked is still there.
    assert entrance.door.pid not in (0, first)


def test_what_dies_again_and_again_is_started_ever_later(entrance: Entrance) -> None:
    entrance.knock()
    for _ in range(PATIENT):
        entrance.door.ended(entrance.collect(), time.monotonic())
        assert entrance.look()
    now = time.monotonic()
    entrance.door.ended(entrance.collect(), now)

    due = entrance.door.next_deadline()
    assert due is not None
    assert due > now
    assert not entrance.look()
    entrance.door.tick(now)
    assert not entrance.look()
    entrance.door.tick(due)
    assert entrance.door.next_deadline() is None
    assert entrance.look()
    assert entrance.door.pid


def _missing() -> list[str]:
    return ["/nowhere"]


def _unknown() -> list[str]:
    raise UnexpectedMessage("a", "b")


@pytest.mark.parametrize("words", [_missing, _unknown])
def test_what_cannot_be_started_is_tried_again(
    tmp_path: Path, words: Callable[[], list[str]]
) -> None:
    made = Entrance(tmp_path, words)
    made.knock()

    assert made.door.pid == 0
    assert not made.look()
    due = made.door.next_deadline()
    assert due is not None
    made.door.tick(due)
    assert made.look()
    made.close()


def test_a_process_that_runs_already_is_gone_on_with(entrance: Entrance) -> None:
    child = os.fork()
    if child == 0:
        signal.pause()
    entrance.door.take_up(0)
    assert entrance.watched.next_deadline() is None
    entrance.door.take_up(child)

    entrance.knock()
    assert entrance.door.pid == child
    assert entrance.watched.next_deadline() is not None


def test_a_door_that_is_removed_leaves_neither_process_nor_socket(
    entrance: Entrance,
) -> None:
    entrance.door.remove()
    assert not entrance.socket.exists()
    entrance.socket = entrance.socket.with_name("other.sock")
    again = ServiceSocket(entrance.program, entrance.selector, watched=entrance.watched)
    with packets.connect(entrance.socket, 5.0):
        entrance.look()
    again.remove()

    _, status = os.waitpid(again.pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert not entrance.socket.exists()
    again.listener.close()
