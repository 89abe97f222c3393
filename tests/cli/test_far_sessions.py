"""What joined hosts have, asked for in threads."""

import os
import queue
import threading
from pathlib import Path

import pytest

from holdfast.cli.far_sessions import AT_ONCE, FarSessions
from holdfast.client import hosts
from holdfast.client.hosts import KnownHost
from holdfast.client.session_location import home_of, settle
from holdfast.model.errors import HostUnreachable
from holdfast.model.ids import ENTROPY, session_id
from holdfast.model.session_record import SessionRecord

PATIENCE = 15.0


@pytest.fixture(autouse=True)
def joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))


def join(*names: str) -> None:
    for name in names:
        key = name.encode().ljust(32, b"k")
        hosts.save(KnownHost(name, key, b"s" * 32, ("ws://127.0.0.1:9/",)))


def record(host: str = "", session: str = "") -> SessionRecord:
    made = session or session_id(os.urandom(ENTROPY))
    return SessionRecord.from_facts({"id": made, "state": "running"}, host)


class Hosts:
    """Hosts that answer when they are let."""

    def __init__(self, **told: SessionRecord) -> None:
        self.told = told
        self.silent = {name: threading.Event() for name in told}
        self.answered: queue.Queue[None] = queue.Queue()
        self.far = FarSessions(lambda: self.answered.put(None), self.ask)

    def ask(self, name: str) -> list[SessionRecord]:
        if name not in self.told:
            raise HostUnreachable(name, "it is off")
        assert self.silent[name].wait(PATIENCE)
        return [self.told[name]]

    def answer(self, *names: str) -> None:
        for name in names:
            self.silent[name].set()
            self.answered.get(timeout=PATIENCE)


def test_a_host_that_is_silent_keeps_nobody_waiting() -> None:
    join("desk", "nas", "off")
    desk, nas = record("desk"), record("nas")
    world = Hosts(desk=desk, nas=nas)

    world.far.ask()
    world.answered.get(timeout=PATIENCE)  # The one that is off.
    assert world.far.listed([]) == []
    world.answer("nas")
    assert world.far.listed([]) == [nas]
    assert world.far.told() == "asking desk; no answer from off"
    assert home_of(nas.id) == "nas"

    world.far.ask()  # A host that is being asked is not asked again.
    world.answered.get(timeout=PATIENCE)
    world.answered.get(timeout=PATIENCE)
    world.answer("desk")
    assert world.far.listed([]) == [desk, nas]
    assert world.far.told() == "no answer from off"
    assert world.far.count == 5


def test_no_host_takes_a_session_from_where_it_is() -> None:
    join("desk", "evil")
    ours, theirs = record(), record("desk")
    settle(theirs.id, "desk")
    for taken in (ours, theirs):
        world = Hosts(evil=record("evil", taken.id), desk=theirs)
        world.far.ask()
        world.answer("evil", "desk")

        assert world.far.listed([ours]) == [theirs]
        assert home_of(theirs.id) == "desk"
        assert home_of(ours.id) == ""


def test_more_hosts_than_threads_are_all_asked() -> None:
    names = [f"h{number:02}" for number in range(3 * AT_ONCE)]
    join(*names)
    world = Hosts(**{name: record(name) for name in names})
    for event in world.silent.values():
        event.set()

    world.far.ask()
    for _ in names:
        world.answered.get(timeout=PATIENCE)
    assert [one.host for one in world.far.listed([])] == names


def test_a_host_that_was_left_is_forgotten() -> None:
    join("desk", "nas")
    world = Hosts(desk=record("desk"), nas=record("nas"))
    for event in world.silent.values():
        event.set()
    world.far.ask()
    world.answer("desk", "nas")

    hosts.forget("desk")
    world.far.ask()
    world.answered.get(timeout=PATIENCE)
    assert [one.host for one in world.far.listed([])] == ["nas"]
