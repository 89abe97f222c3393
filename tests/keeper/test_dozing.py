"""What a keeper does with a session that dozes: who is told, and in which order."""

import json
import os
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios import witness

from holdfast.keeper.keeper_state import KeeperState
from holdfast.keeper.trustee import Trust
from holdfast.keeper.trustee_link import DOZER, Role, TrusteeLink
from holdfast.keeper.vault import Vault
from holdfast.linux import packets

ID = "s_aaaaaaaaaaaaaaaa"


def recorder(path: Path) -> Callable[[socket.socket, Trust], None]:
    """Return a process that writes down what it is told, in place of a trustee."""

    def become(link: socket.socket, _trust: Trust) -> None:
        while (heard := packets.receive(link)) is not None:
            with path.open("a") as file:
                file.write(json.dumps({**heard[0], "fds": len(heard[1])}) + "\n")
        os._exit(0)

    return become


class Keeping:
    """A keeper's keeper_state, with a session in it whose descriptors are real."""

    def __init__(self, folder: Path) -> None:
        self.selector = selectors.DefaultSelector()
        self.keeper_state = KeeperState(self.selector, self._hear, self._hear)
        self._told = folder / "told"
        self._told.touch()
        role = Role("trustee", recorder(self._told), lambda _: True, True)  # noqa: FBT003
        keeper_state = self.keeper_state
        keeper_state.trustee = TrusteeLink(
            keeper_state.vault, self.selector, keeper_state.watched, role
        )
        keeper_state.trustee.start()
        self.master, self.slave = os.openpty()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / "s.sock"))
        listener.listen(1)
        fds = [self.master, os.memfd_create("window"), listener.detach()]
        fds.append(os.pidfd_open(os.getpid()))
        facts = {"name": "one", "state": "running", "pid": 4_000_000}
        keeper_state.vault.deposit(ID, facts, fds, time.monotonic())

    def _hear(self, *_heard: object) -> None:
        raise AssertionError("nobody says anything here")

    def doze(self) -> bool:
        return self.keeper_state.doze(ID, [os.memfd_create("left")], idle_ms=1700)

    def told(self) -> list[dict[str, object]]:
        """Return what the trustee was told, of this session."""
        return [json.loads(line) for line in self._told.read_text().splitlines()]

    def turn_until(self, reached: Callable[[], object]) -> None:
        deadline = time.monotonic() + 10
        while not reached():
            assert time.monotonic() < deadline, "it never came to this"
            for key, events in self.selector.select(0.01):
                key.data(key.fileobj, events)
            self.keeper_state.dozer.tick(time.monotonic())

    def close(self) -> None:
        keeper_state = self.keeper_state
        for one in (keeper_state.trustee, keeper_state.dozer):
            pid = one.pid
            one.end()
            if pid:
                os.waitpid(pid, 0)
        for fd in keeper_state.vault.forget(ID):
            os.close(fd)
        os.close(self.slave)
        self.selector.close()


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Keeping]:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    made = Keeping(tmp_path)
    yield made
    made.close()


def test_before_it_is_granted_both_others_have_everything(keeping: Keeping) -> None:
    assert keeping.doze()

    keeping.turn_until(keeping.told)
    (said,) = keeping.told()
    facts = said["facts"]
    assert isinstance(facts, dict)
    assert (facts["dozing"], facts["left"], facts["idle_ms"]) == (True, 1, 1700)
    assert said["fds"] == 5
    dozer = keeping.keeper_state.dozer.pid
    keeping.turn_until(lambda: "/memfd:left" in " ".join(witness.descriptors(dozer)))


def test_without_a_trustee_nothing_dozes(keeping: Keeping) -> None:
    pid = keeping.keeper_state.trustee.pid
    keeping.keeper_state.trustee.end()
    os.waitpid(pid, 0)
    left = os.memfd_create("left")

    assert not keeping.keeper_state.doze(ID, [left], idle_ms=0)

    os.close(left)  # It is still ours.
    assert not keeping.keeper_state.vault.deposits[ID].is_dozing
    assert keeping.keeper_state.dozer.pid == 0


def test_while_a_holder_is_on_its_way_nothing_dozes(keeping: Keeping) -> None:
    keeping.keeper_state.births.begin(ID, time.monotonic())
    left = os.memfd_create("left")

    assert not keeping.keeper_state.doze(ID, [left], idle_ms=0)

    os.close(left)


def test_a_byte_wakes_it_and_the_trustee_is_told_first(keeping: Keeping) -> None:
    keeping.doze()
    keeping.keeper_state.vault.holder_died(ID, time.monotonic())

    os.write(keeping.slave, b"x")

    vault = keeping.keeper_state.vault
    keeping.turn_until(lambda: vault.next_deadline() is not None)
    keeping.turn_until(lambda: len(keeping.told()) == 2)
    facts = keeping.told()[-1]["facts"]
    assert isinstance(facts, dict)
    assert (facts["dozing"], facts["left"]) == (False, 1)


def test_a_dozer_that_dies_is_replaced_by_one_that_has_all(keeping: Keeping) -> None:
    keeping.doze()
    keeping.keeper_state.vault.holder_died(ID, time.monotonic())
    dozer = keeping.keeper_state.dozer
    first = dozer.pid
    os.kill(first, 9)
    os.waitpid(first, 0)

    keeping.turn_until(lambda: dozer.pid not in (0, first))
    os.write(keeping.slave, b"x")

    vault = keeping.keeper_state.vault
    keeping.turn_until(lambda: vault.next_deadline() is not None)


def test_a_dozer_without_anything_to_watch_is_not_replaced(keeping: Keeping) -> None:
    keeping.doze()
    keeping.keeper_state.wake(ID)
    pid = keeping.keeper_state.dozer.pid
    os.kill(pid, 9)
    os.waitpid(pid, 0)

    keeping.turn_until(lambda: keeping.keeper_state.dozer.pid == 0)
    keeping.keeper_state.dozer.tick(time.monotonic() + 60)

    assert keeping.keeper_state.dozer.pid == 0
    assert keeping.keeper_state.dozer.next_deadline() is None


def test_a_leader_that_the_keeper_collects_wakes_its_session(keeping: Keeping) -> None:
    keeping.doze()
    keeping.keeper_state.vault.holder_died(ID, time.monotonic())

    keeping.keeper_state.note_exit(ID, 7)

    kept = keeping.keeper_state.vault.deposits[ID]
    assert (kept.is_dozing, kept.exit) == (False, 7)
    assert kept.replace_at is not None


def test_what_is_inherited_asleep_stays_asleep(keeping: Keeping) -> None:
    keeping.doze()
    kept = keeping.keeper_state.vault.deposits[ID]
    facts, fds = dict(kept.facts), [os.dup(fd) for fd in kept.fds]
    for fd in keeping.keeper_state.vault.forget(ID):
        os.close(fd)

    keeping.keeper_state.inherit(ID, facts, fds)

    kept = keeping.keeper_state.vault.deposits[ID]
    assert (kept.is_dozing, kept.is_held, kept.replace_at) == (True, False, None)


def test_only_what_dozes_is_told_to_a_dozer() -> None:
    vault = Vault()
    vault.deposit("s_1", {"name": "one"}, [3, 4, 5, 6], now=0)

    assert not DOZER.keeps(vault.deposits["s_1"])
    vault.doze("s_1", [7], idle_ms=0)
    assert DOZER.keeps(vault.deposits["s_1"])
