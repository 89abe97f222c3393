"""How a session's leader is ended, and who is told of it."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.desk_world import Client, World, world

from holdfast.core.session.stream import StreamWindow
from holdfast.holder.processes.leader import Leader
from holdfast.holder.record.note_memory import AREA
from holdfast.linux import shared_memory
from holdfast.wire import messages as wire

PATIENCE = 20.0


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
        raw = shared_memory.view(self.here.vaulted.memory)
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
    with world() as made:
        yield made


def exits(client: Client) -> list[wire.Exited]:
    return [one for one in client.told() if isinstance(one, wire.Exited)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
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
