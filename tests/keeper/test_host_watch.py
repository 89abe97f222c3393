import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper.host_watch import OTHERS, HostLink, Runs
from holdfast.keeper.watched import Watched
from holdfast.linux import packets


class ServiceSocket:
    """A keeper's side of the host's link, with a real process at the other end."""

    def __init__(self, folder: Path) -> None:
        self.selector = selectors.DefaultSelector()
        self.watched = Watched(print)
        self.host = HostLink(self.selector, self.watched)
        self.listener = packets.listen(folder / "keeper.sock")
        words = "import socket, sys, time; s = socket.socket(1, 5); "
        words += "s.connect(sys.argv[1]); time.sleep(60)"
        self.process = subprocess.Popen(
            [sys.executable, "-c", words, str(folder / "keeper.sock")]
        )
        self.link, _ = self.listener.accept()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.link.close()
        self.listener.close()
        self.selector.close()

    def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (due_at := self.watched.next_deadline()) is not None and due_at < until:
            self.watched.tick(due_at)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ServiceSocket]:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    made = ServiceSocket(tmp_path)
    yield made
    made.close()


def stop(door: ServiceSocket) -> None:
    os.kill(door.process.pid, signal.SIGSTOP)
    os.waitpid(door.process.pid, os.WUNTRACED)


def test_a_host_that_belongs_to_nobody_is_started_again_when_it_is_gone(
    door: ServiceSocket,
) -> None:
    assert door.host.hello(door.link, "kept")
    assert door.host.pid == door.process.pid
    before = time.monotonic()

    door.host.ended(door.link)

    at = door.host.next_deadline()
    assert at is not None
    assert before <= at <= time.monotonic()
    assert door.host.pid == 0
    assert door.watched.next_deadline() is None


@pytest.mark.parametrize("runs", ["supervised", "terminal"])
def test_one_that_somebody_runs_is_theirs_to_start_again(
    door: ServiceSocket, runs: str
) -> None:
    door.host.hello(door.link, runs)
    door.host.ended(door.link)

    assert door.host.next_deadline() is None


def test_one_that_said_that_it_leaves_is_gone_for_good(door: ServiceSocket) -> None:
    door.host.hello(door.link, "kept")
    door.host.hello(door.link, "leaving")
    door.host.ended(door.link)

    assert door.host.runs is Runs.LEAVING
    assert door.host.next_deadline() is None


def test_one_that_hung_is_killed_and_its_owner_has_a_while(door: ServiceSocket) -> None:
    door.host.hello(door.link, "supervised")
    stop(door)
    door.watch(10)

    assert door.process.wait(5) == -signal.SIGKILL
    before = time.monotonic()
    door.host.ended(door.link)
    at = door.host.next_deadline()
    assert at is not None
    assert OTHERS <= at - before < OTHERS + 5


def test_one_at_a_terminal_is_said_to_hang_and_not_killed(door: ServiceSocket) -> None:
    door.host.hello(door.link, "terminal")
    stop(door)
    door.watch(10)

    assert door.process.poll() is None
    assert door.watched.stalled("host") == "it was stopped"


def test_how_it_runs_is_one_of_four_words(door: ServiceSocket) -> None:
    for odd in ("", "root", None, 7, ["kept"]):
        assert not door.host.hello(door.link, odd)
    assert door.host.link is None


def test_the_end_of_another_s_link_means_nothing(door: ServiceSocket) -> None:
    door.host.hello(door.link, "kept")
    one, other = socket.socketpair()
    with one, other:
        door.host.ended(one)

    assert door.host.pid == door.process.pid
    door.host.tick(time.monotonic() + 100)
    assert door.host.next_deadline() is None
