"""How a nursery watches its keeper, and what it does if that hangs."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import eventually

from holdfast.holder.links import keeper_watch
from holdfast.holder.links.keeper_watch import KeeperWatch
from holdfast.linux import packets
from holdfast.linux.processes import die_with_parent, is_alive
from holdfast.linux.replacements import take_word

PATIENCE = 20.0
ENOUGH = 3


class Family:
    """A keeper that does nothing, its nursery, and a trustee; all are forks of us."""

    def __init__(self, trustee: Callable[[], None] | None = None) -> None:
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        tell, self._told = os.pipe()[::-1]
        us = os.getpid()
        self.keeper = os.fork()
        if self.keeper == 0:
            die_with_parent(us)
            self._be_keeper(near, far, tell, trustee)
        os.close(tell)
        far.close()
        near.settimeout(PATIENCE)
        self.link = near
        self.nursery, self.trustee = map(int, self._said().split())

    def _be_keeper(
        self,
        near: socket.socket,
        far: socket.socket,
        tell: int,
        trustee: Callable[[], None] | None,
    ) -> None:
        # First: here the nursery is a fork too, and looks at the oldest before.
        second = os.fork()
        if second == 0:
            near.close()
            far.close()
            (trustee or signal.pause)()
            os._exit(0)
        nursery = os.fork()
        if nursery == 0:
            near.close()
            _be_nursery(far, tell)
        far.close()
        os.write(tell, f"{nursery} {second}\n".encode())
        near.close()
        signal.pause()
        os._exit(1)

    def _said(self) -> str:
        found = b""
        while not found.endswith(b"\n"):
            found += os.read(self._told, 1) or b"\n"
        return found.decode().strip()

    def heard(self) -> str:
        """Return what the nursery was asked, as it says itself."""
        return self._said()

    def say(self, *fds: int, **packet: object) -> None:
        """Say something to the nursery, as the keeper."""
        packets.send(self.link, packet, [*fds])

    def answered(self) -> object:
        """Return what the nursery says to the keeper."""
        heard = packets.receive(self.link)
        assert heard is not None
        return heard[0]["do"]

    def close(self) -> None:
        """Leave nothing."""
        self.link.close()
        os.close(self._told)
        for pid in (self.nursery, self.trustee, self.keeper):
            if pid and is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        if self.keeper:
            os.waitpid(self.keeper, 0)


def _be_nursery(link: socket.socket, tell: int) -> None:
    watch = KeeperWatch(link)
    while (heard := watch.receive()) is not None:
        blocks = link.gettimeout() is None
        os.write(tell, f"{heard[0]['do']} {len(heard[1])} {blocks}\n".encode())
    os.write(tell, b"gone\n")
    os._exit(0)


Begin = Callable[..., Family]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    made: list[Family] = []

    def family(trustee: Callable[[], None] | None = None) -> Family:
        made.append(Family(trustee))
        return made[-1]

    yield family
    for one in made:
        one.close()


def test_a_nursery_is_asked_and_says_that_it_is_there(begin: Begin) -> None:
    family = begin()

    family.say(do="ping")
    assert family.answered() == "pong"
    family.say(do="pong")
    family.say(family.link.fileno(), do="adopt")

    assert family.heard() == "adopt 1 True"


def test_a_nursery_notices_that_its_keeper_is_gone(begin: Begin) -> None:
    family = begin()

    family.link.shutdown(socket.SHUT_RDWR)

    assert family.heard() == "gone"


def test_a_keeper_that_hangs_is_killed_and_its_stopped_trustee_woken(
    begin: Begin,
) -> None:
    family = begin()
    family.say(do="ping", pongs=True)
    assert family.answered() == "pong"

    os.kill(family.trustee, signal.SIGSTOP)
    os.kill(family.keeper, signal.SIGSTOP)

    assert family.answered() == "ping"  # It is asked first.
    _, status = os.waitpid(family.keeper, 0)
    assert status == signal.SIGKILL
    word = take_word()
    assert word is not None
    assert word.pid == family.keeper
    eventually("it goes on", lambda: state(family.trustee) == "S")
    family.keeper = 0


def state(pid: int) -> str:
    text = Path(f"/proc/{pid}/stat").read_text("latin-1")
    return text.rpartition(")")[2].split()[0]


def test_a_keeper_that_is_too_old_to_answer_is_not_watched(begin: Begin) -> None:
    family = begin()
    family.say(do="ping")
    assert family.answered() == "pong"

    os.kill(family.keeper, signal.SIGSTOP)

    family.link.settimeout(ENOUGH)
    with pytest.raises(TimeoutError):
        packets.receive(family.link)
    assert is_alive(family.keeper)


def spin() -> None:
    while True:
        pass


def test_a_trustee_that_only_works_is_ended_with_its_keeper(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_watch, "TRUSTEE_CPU", 0.001)
    family = begin(spin)
    family.say(do="ping", pongs=True)
    family.answered()

    os.kill(family.keeper, signal.SIGSTOP)

    eventually("it is ended", lambda: not is_alive(family.trustee))


def test_the_forks_of_a_process_are_told_from_what_it_started(begin: Begin) -> None:
    family = begin()

    found = keeper_watch._forks_of(family.keeper)  # noqa: SLF001  # what it looks at

    assert {*found} == {family.nursery, family.trustee}
    assert keeper_watch._forks_of(family.trustee) == []  # noqa: SLF001
    assert keeper_watch._work_of([family.trustee, 4_000_000]).keys() == {  # noqa: SLF001
        family.trustee
    }
