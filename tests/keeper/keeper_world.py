"""A keeper's state in this process: its holders and its nursery are processes that do
nothing, and tests say in their place what there is to say."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.keeper.code import Code, present
from holdfast.keeper.keeper_answers import Requests
from holdfast.keeper.keeper_state import KeeperState
from holdfast.keeper.upgrade import Event
from holdfast.keeper.upgrade_steps import Upgrading
from holdfast.keeper.vault import Deposit
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

ONE = SessionId("s_" + "a" * 16)
TWO = SessionId("s_" + "b" * 16)
PATIENCE = 10.0

READY: packets.Packet = {
    "do": "ready",
    "version": "9.9",
    "waits": True,
    "pings": True,
    "dozes": True,
}


def idle_process() -> "subprocess.Popen[bytes]":
    """Start a process that does nothing."""
    return subprocess.Popen(["sleep", "600"])  # noqa: S607  # whichever there is


class Peer:
    """A process at the other end of a link to the keeper, and what it is told."""

    def __init__(self, house: "House") -> None:
        self._end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(OSError):
                self._end.connect(house.address)
                signal.pause()
            os._exit(1)
        self._end.settimeout(PATIENCE)
        near, _ = house.listener.accept()
        house.keeper_state.links.add(near)
        self.near = near
        assert packets.process_of(near) == self.pid
        self._house = house

    def say(self, *fds: int, **packet: object) -> None:
        """Say something, and have it heard."""
        packets.send(self._end, packet, [*fds])
        self._house.turn()

    def told(self) -> list[packets.Packet]:
        """Return what was said to it since the last time."""
        self._house.turn()
        self._end.settimeout(0)
        found = []
        with contextlib.suppress(BlockingIOError):
            while (heard := packets.receive(self._end)) is not None:
                found.append(heard[0])
        return found

    def is_dead(self) -> bool:
        """Tell whether it was killed, without taking its end from anybody."""
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if os.waitid(os.P_PID, self.pid, look) is not None:
                return True
        return False

    def hang_up(self) -> None:
        """Leave."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.pid = 0
        self._end.close()
        self._house.turn()

    def close(self) -> None:
        """Be gone, if it is not."""
        if self.pid:
            self.hang_up()


class FakeNursery:
    """A nursery that forks nobody: what it is asked, and what it says."""

    def __init__(self, house: "House", code: Code) -> None:
        near, self._end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._end.settimeout(PATIENCE)
        self.process = idle_process()
        self.nursery = house.keeper_state.new_nursery(code)
        self.nursery.take_up(near, self.process.pid)
        self._house = house
        self.fds: list[int] = []

    def asked(self) -> list[packets.Packet]:
        """Return what it was asked since the last time, but for pings."""
        self._end.settimeout(0)
        found = []
        with contextlib.suppress(BlockingIOError):
            while (heard := packets.receive(self._end)) is not None:
                found.append({**heard[0], "fds": len(heard[1])})
                self.fds += heard[1]
        return found

    def say(self, *fds: int, **packet: object) -> None:
        """Say something, and have it heard."""
        packets.send(self._end, packet, [*fds])
        self._house.turn()

    def hang_up(self) -> None:
        """Die."""
        self._end.close()
        self._house.turn()

    def close(self) -> None:
        """Leave nothing."""
        self.nursery.end()
        self._end.close()
        self.process.kill()
        self.process.wait()
        for fd in self.fds:
            os.close(fd)


class House:
    """A keeper without its loop."""

    def __init__(self, folder: Path) -> None:
        self.selector = selectors.DefaultSelector()
        self.events: list[Event] = []
        self.replaced: list[Code] = []
        self.keeper_state = KeeperState(self.selector, self._hear, self._happened)
        self.upgrading = Upgrading(
            self.keeper_state, self._write_state, self.replaced.append
        )
        self.requests = Requests(self.keeper_state, self.upgrading)
        self.address = str(folder / "test.sock")
        self.listener = packets.listen(self.address)
        self.listener.settimeout(PATIENCE)
        self._peers: list[Peer] = []
        self._slaves: list[int] = []
        self._nurseries: list[FakeNursery] = []

    def _hear(
        self, link: socket.socket, packet: packets.Packet, fds: list[int]
    ) -> None:
        self.requests.hear(link, packet, fds)

    def _happened(self, event: Event) -> None:
        self.events.append(event)
        self.upgrading.happened(event)

    def _write_state(self) -> int:
        return os.memfd_create("no state")

    def turn(self) -> None:
        """Take everything that was said."""
        while ready := self.selector.select(0):
            for key, events in ready:
                if self.selector.get_map().get(key.fd) is not None:
                    key.data(key.fileobj, events)

    def turn_until(self, reached: Callable[[], object]) -> None:
        """Take what is said until it has come to this."""
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, "it never came to this"
            self.selector.select(0.01)
            self.turn()

    def peer(self) -> Peer:
        """Return somebody who has connected, and says nothing yet."""
        self._peers.append(Peer(self))
        return self._peers[-1]

    def nursery(self, **differs: object) -> FakeNursery:
        """Return the nursery of this keeper, which is ready."""
        made = FakeNursery(self, present())
        self._nurseries.append(made)
        self.keeper_state.nursery = made.nursery
        made.say(**{**READY, **differs})
        made.asked()
        return made

    def deposit(
        self, session: str = ONE, holder: Peer | None = None, **facts: object
    ) -> Peer:
        """Return a holder that has deposited a session."""
        found = self.peer() if holder is None else holder
        kept = self.keeper_state.vault.deposits.get(session)
        fds = (
            descriptors(self._slaves)
            if kept is None
            else [os.dup(fd) for fd in kept.plain_fds]
        )
        said = {
            "name": session[2:8],
            "pid": 4_000_000,
            "holder": found.pid,
            "state": "running",
            "command": ["true"],
            "size": [80, 24],
            **facts,
        }
        found.say(*fds, do="deposit", id=session, facts=said, token="", exit=None)
        for fd in fds:
            os.close(fd)
        (answer, *_) = [one for one in found.told() if "ok" in one]
        assert answer["ok"], answer
        return found

    def kept(self, session: str = ONE) -> Deposit:
        """Return what is kept of a session."""
        return self.keeper_state.vault.deposits[session]

    def close(self) -> None:
        """Leave nothing."""
        for peer in self._peers:
            peer.close()
        for nursery in self._nurseries:
            nursery.close()
        for entrusted in (self.keeper_state.trustee, self.keeper_state.dozer):
            entrusted.end()
        for link in self.keeper_state.links:
            self.keeper_state.links.close(link)
        for session in [*self.keeper_state.vault.deposits]:
            for fd in self.keeper_state.vault.forget(session):
                os.close(fd)
        for slave in self._slaves:
            os.close(slave)
        self.listener.close()
        self.selector.close()


def descriptors(slaves: list[int]) -> list[int]:
    """Return what a holder deposits; the terminal's other end is put into `slaves`."""
    master, slave = os.openpty()
    slaves.append(slave)  # A terminal without a program wakes what dozes.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("")  # Anywhere: nobody is to find it.
        listener.listen(1)
        memory = os.memfd_create("memory")
        return [master, memory, os.dup(listener.fileno()), os.pidfd_open(os.getpid())]


@contextlib.contextmanager
def house(folder: Path) -> Iterator[House]:
    """Yield a keeper_state; the runtime folder is that of the environment."""
    places.session_dir()
    made = House(folder)
    try:
        yield made
    finally:
        made.close()
