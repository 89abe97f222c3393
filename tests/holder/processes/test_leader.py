"""How a session's leader is ended, and who is told of it."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import Client, World, world
from tests.linux.trees import SESSION as OWN
from tests.linux.trees import leader

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.processes import leader as leaders
from holdfast.holder.processes.daemon_sweep import DaemonSweep
from holdfast.holder.processes.leader import Leader
from holdfast.holder.record.note_memory import AREA
from holdfast.linux import shared_memory
from holdfast.linux.cgroups import SessionCgroup
from holdfast.model.events import EventName
from holdfast.model.ids import SessionId
from holdfast.model.session_record import CapsuleRecord
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message

PATIENCE = 20.0

DAEMON = """
import os, sys
print(os.getpid(), flush=True)
sys.stdin.read()
"""


class Watched:
    """A leader, and what was done when it ended."""

    def __init__(self, here: World, exit_status: int | None = None) -> None:
        session = here.session
        self.here = here
        self.leader = Leader(here.context, session.driver, session.freezer, exit_status)
        self.done: list[str] = []

    def watch(self) -> None:
        self.leader.watch(
            lambda: self.done.append("drained"), lambda: self.done.append("ended")
        )

    def join(self) -> Client:
        """Let an operator in who looks at the terminal."""
        client = self.here.join()
        raw = shared_memory.view(self.here.descriptors.memory)
        client.connection.watch(StreamWindow.open(raw[AREA:]), 0)
        client.told()
        return client

    def until_ended(self) -> None:
        give_up_at = time.monotonic() + PATIENCE
        while not self.done:
            assert time.monotonic() < give_up_at
            self.here.context.poll.turn(0.05)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    # A name that nothing else on this machine has: what bears it is swept.
    monkeypatch.setattr(leaders, "DaemonSweep", _sweep)
    with world() as made:
        yield made


def _sweep(
    _: SessionId, cgroup: SessionCgroup | None, capsule: CapsuleRecord | None
) -> DaemonSweep:
    return DaemonSweep(SessionId(OWN), cgroup, capsule)


def exits(client: Client) -> list[wire.Exited]:
    return [one for one in client.told() if isinstance(one, wire.Exited)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_who_ends_a_session_has_its_leader_signalled_and_all_are_told(
    here: World, number: int
) -> None:
    watched = Watched(here)
    watched.watch()
    anna, bert = watched.join(), watched.join()

    watched.leader.end(anna.connection, number, leave=False)
    watched.until_ended()

    assert watched.done == ["drained", "ended"]
    assert watched.leader.exit == -number
    assert exits(anna) == exits(bert) == [wire.Exited(-number)]


def test_a_leader_that_is_stopped_hears_that_it_is_ended(here: World) -> None:
    watched = Watched(here)
    watched.watch()
    anna = watched.join()
    os.kill(here.leader.pid, signal.SIGSTOP)

    watched.leader.end(anna.connection, signal.SIGTERM, leave=False)
    watched.until_ended()

    assert watched.leader.exit == -signal.SIGTERM


def test_a_leader_that_does_not_heed_its_signal_is_killed_in_time(here: World) -> None:
    watched = Watched(here)
    watched.watch()
    anna = watched.join()
    watched.leader.end(anna.connection, signal.SIGURG, leave=False)
    here.turn()
    assert here.leader.poll() is None

    here.turn(later=60)
    watched.until_ended()

    assert watched.leader.exit == -signal.SIGKILL


def test_a_leader_that_ends_by_itself_is_waited_for_once(here: World) -> None:
    watched = Watched(here)
    watched.watch()
    anna = watched.join()
    os.kill(here.leader.pid, signal.SIGKILL)
    watched.until_ended()
    here.context.poll.turn(0)

    assert watched.done == ["drained", "ended"]
    assert exits(anna) == [wire.Exited(-signal.SIGKILL)]


def test_who_ends_a_session_whose_leader_is_gone_is_told_how_that_ended(
    here: World,
) -> None:
    watched = Watched(here, exit_status=3)
    anna, bert = watched.join(), watched.join()

    watched.leader.end(anna.connection, signal.SIGTERM, leave=False)

    assert exits(anna) == [wire.Exited(3)]
    assert exits(bert) == []
    assert here.leader.poll() is None
    watched.leader.end(bert.connection, signal.SIGTERM, leave=True)
    assert exits(bert) == [wire.Exited(3)]
    assert exits(anna) == []


def test_a_daemon_that_is_to_stay_is_told_of_and_goes_on(here: World) -> None:
    watched = Watched(here, exit_status=0)
    anna = watched.join()
    with leader(DAEMON) as daemon:
        daemon.pids()

        watched.leader.end(anna.connection, signal.SIGTERM, leave=True)

        assert Path(f"/proc/{daemon.pid}/cmdline").read_bytes()
        said = anna.told()
    assert said[-1] == wire.Exited(0)
    assert _swept(said) == [(0, 1), (0, 1)]  # As one who is here, and who asked.
    (entry,) = [one for one in here.entries() if one.kind is EntryKind.SWEPT]
    assert (entry.fields["by"], entry.fields["left"]) == (anna.id, 1)


def test_who_ends_daemons_is_told_when_they_have_ended(here: World) -> None:
    watched = Watched(here, exit_status=0)
    anna = watched.join()
    with leader(DAEMON) as daemon:
        daemon.pids()
        watched.leader.end(anna.connection, signal.SIGTERM, leave=False)
        said = anna.told()
        assert said == []

        give_up_at = time.monotonic() + PATIENCE
        while not said or not isinstance(said[-1], wire.Exited):
            assert time.monotonic() < give_up_at
            here.turn()
            said += anna.told()

    assert (1, 0) in _swept(said)
    (entry,) = [one for one in here.entries() if one.kind is EntryKind.SWEPT]
    assert (entry.fields["count"], entry.fields["left"]) == (1, 0)


def _swept(said: list[Message]) -> list[tuple[object, object]]:
    return [
        (one.fields["leftovers"], one.fields["left"])
        for one in said
        if isinstance(one, wire.Event) and one.name == EventName.SESSION_SWEPT
    ]
