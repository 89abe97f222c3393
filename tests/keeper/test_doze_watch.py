"""What wakes a session that dozes, and what does not."""

import os
import pty
import socket
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper.doze_watch import Watch
from holdfast.keeper.trustee import Entrusted, Trust


class Asleep:
    """A session that dozes, of real descriptors, and who hears that it wakes."""

    def __init__(self, state: str = "running", *pipes: int) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        memory = os.memfd_create("window")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(b"\0holdfast-test-%d-%d" % (os.getpid(), id(self)))
        self.listener.listen(4)
        self.leader = os.fork()
        if self.leader == 0:
            signal_pause()
        pidfd = os.pidfd_open(self.leader)
        fds = [self.master, memory, self.listener.fileno(), pidfd]
        if pipes:  # What a holder leaves comes behind: notes, and the shell's pipe.
            fds += [os.memfd_create("left"), *pipes]
        self.trust = Trust({"s_1": Entrusted({"state": state}, fds, None)})
        self.woken: list[str] = []
        self.watch = Watch(self.trust, self.woken.append)
        self.watch.begin("s_1")

    def look(self) -> list[str]:
        self.watch.wait(0.05)
        return self.woken

    def close(self) -> None:
        os.kill(self.leader, 9)
        os.waitpid(self.leader, 0)
        self.listener.detach()
        self.watch.end("s_1")
        self.trust.drop("s_1")
        os.close(self.slave)


def signal_pause() -> None:
    import signal  # noqa: PLC0415  # in a child of its own

    signal.pause()
    os._exit(0)


@pytest.fixture
def asleep() -> Iterator[Asleep]:
    made = Asleep()
    yield made
    made.close()


def test_nothing_wakes_what_nothing_happens_in(asleep: Asleep) -> None:
    assert asleep.look() == []


def test_a_byte_wakes_it_and_stays_where_it_is(asleep: Asleep) -> None:
    os.write(asleep.slave, b"x")

    assert asleep.look() == ["s_1"]
    assert asleep.look() == ["s_1"]  # It is told once.
    assert os.read(asleep.master, 10) == b"x"


@pytest.mark.parametrize(("state", "wakes"), [("running", ["s_1"]), ("exited", [])])
def test_a_shell_that_tells_what_is_set_wakes_it_unless_it_is_over(
    state: str, wakes: list[str], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    made = Asleep(state, pipe)
    try:
        assert made.look() == []
        os.write(pipe, b"holdfast-state")

        assert made.look() == wakes
        assert os.read(pipe, 100) == b"holdfast-state"
    finally:
        made.close()


def test_a_connection_wakes_it_and_waits_for_whoever_accepts(asleep: Asleep) -> None:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(asleep.listener.getsockname())

        assert asleep.look() == ["s_1"]
        asleep.listener.accept()[0].close()


def test_its_leader_s_end_wakes_it(asleep: Asleep) -> None:
    os.kill(asleep.leader, 9)

    assert asleep.look() == ["s_1"]


def test_what_happened_before_counts(asleep: Asleep) -> None:
    asleep.watch.end("s_1")
    os.write(asleep.slave, b"x")
    assert asleep.look() == []

    asleep.watch.begin("s_1")

    assert asleep.look() == ["s_1"]


def test_several_causes_are_told_once(asleep: Asleep) -> None:
    os.write(asleep.slave, b"x")
    os.kill(asleep.leader, 9)

    assert asleep.look() == ["s_1"]


def test_of_what_is_over_only_its_socket_is_watched() -> None:
    asleep = Asleep(state="exited")
    try:
        os.kill(asleep.leader, 9)
        os.write(asleep.slave, b"x")
        assert asleep.look() == []

        with socket.socket(socket.AF_UNIX) as link:
            link.connect(asleep.listener.getsockname())
            assert asleep.look() == ["s_1"]
    finally:
        asleep.close()


def test_what_nobody_has_is_not_watched(asleep: Asleep) -> None:
    asleep.watch.begin("s_2")
    asleep.watch.end("s_2")

    assert asleep.look() == []
