"""How the limits that a session meets are told; a folder plays the kernel's cgroup."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import SESSION, Client, World

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.processes.limit_watch import EVERY, REST, SOON, LimitWatch
from holdfast.linux import oom_log
from holdfast.model.events import EventName
from holdfast.model.session_record import CapsuleRecord
from holdfast.wire import messages as wire

OF_MEMORY, OF_PROCESSES = 1 << 30, 64


class Limited:
    """A session with limits, and what the kernel says of them."""

    def __init__(self, made: World, folder: Path) -> None:
        self.world = made
        self._folder = folder
        self.anna: Client = made.join()
        self.anna.told()
        self.watches: list[LimitWatch] = []
        self.counts("memory.oom_control", "oom_kill", 0)
        self.counts("pids.events", "max", 0)
        descriptors = made.descriptors
        limited = (f"memory:1:{folder}", f"pids:1:{folder}", f"cpu:1:{folder}")
        capsule = CapsuleRecord(limited=limited)
        descriptors.held = descriptors.held._replace(capsule=capsule)
        descriptors.record = descriptors.record._replace(
            memory=OF_MEMORY, pids=OF_PROCESSES
        )

    def counts(self, file: str, word: str, number: int) -> None:
        """Have the kernel count."""
        (self._folder / file).write_text(f"other 9\n{word} {number}\n")

    def begin(self) -> None:
        """Begin to watch, as a holder does."""
        descriptors = self.world.descriptors
        driver = self.world.session.driver
        self.watches.append(LimitWatch(self.world.context, driver, descriptors.change))

    def rings(self) -> None:
        """Have the kernel say that memory was not enough, and the loop hear it."""
        bell, _ = (self._folder / "cgroup.event_control").read_text().split()
        os.eventfd_write(int(bell), 1)
        while self.world.context.poll.turn(0):
            pass

    def told(self) -> list[dict[str, str | int]]:
        """Return what the operator was told of limits since the last time."""
        events = [one for one in self.anna.told() if isinstance(one, wire.Event)]
        assert all(one.session == SESSION for one in events)
        return [dict(one.fields) for one in events if one.name == EventName.LIMIT_MET]

    def booked(self) -> list[tuple[object, object]]:
        """Return which limits the book says were met, and how often."""
        self.world.session.book.sync()
        return [
            (entry.fields["limit"], entry.fields["count"])
            for entry in self.world.entries()
            if entry.kind is EntryKind.LIMITED
        ]


@pytest.fixture
def limited(here: World, tmp_path: Path) -> Iterator[Limited]:
    folder = tmp_path / "cgroup"
    folder.mkdir()
    made = Limited(here, folder)
    yield made
    for one in made.watches:
        one._meter.close()  # noqa: SLF001  # what ends with a holder


def test_what_an_earlier_life_has_met_is_not_told_again(limited: Limited) -> None:
    limited.counts("pids.events", "max", 5)

    limited.begin()

    assert (limited.told(), limited.booked()) == ([], [])
    assert limited.world.descriptors.held.met == {"memory": 0, "pids": 5}


def test_memory_that_was_not_enough_is_told_once_the_kernel_says_so(
    limited: Limited,
) -> None:
    limited.begin()
    limited.counts("memory.oom_control", "oom_kill", 2)
    assert limited.told() == []

    limited.rings()
    assert limited.told() == []
    limited.world.turn(SOON)

    (said,) = limited.told()
    assert (said["limit"], said["most"], said["count"]) == ("memory", OF_MEMORY, 2)
    assert (said["program"], said["pid"]) == ("", 0)
    assert limited.booked() == [("memory", 2)]
    assert limited.world.descriptors.held.met == {"memory": 2, "pids": 0}


def test_the_program_that_was_killed_is_named_where_the_log_can_be_read(
    limited: Limited, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "kmsg"
    os.mkfifo(log)
    monkeypatch.setattr(oom_log, "_LOG", str(log))
    writer = os.open(log, os.O_RDWR)
    group = f"oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/x/holdfast-{SESSION},"
    os.write(writer, f"6,1,2,-;{group}task=cc1,pid=4711,uid=0\n".encode())
    limited.begin()
    limited.counts("memory.oom_control", "oom_kill", 1)

    limited.rings()
    limited.world.turn(SOON)
    os.close(writer)

    (said,) = limited.told()
    assert (said["program"], said["pid"]) == ("cc1", 4711)


def test_a_sign_without_a_count_is_nothing_and_the_next_one_is_heard(
    limited: Limited,
) -> None:
    limited.begin()
    limited.rings()
    limited.world.turn(SOON)
    assert limited.told() == []

    limited.counts("memory.oom_control", "oom_kill", 1)
    limited.rings()
    limited.world.turn(SOON)

    assert [one["count"] for one in limited.told()] == [1]


def test_forks_that_failed_are_found_by_looking_now_and_then(limited: Limited) -> None:
    limited.begin()
    limited.counts("pids.events", "max", 300)
    limited.world.turn(EVERY / 2)
    assert limited.told() == []

    limited.world.turn(EVERY + 1)

    (said,) = limited.told()
    assert (said["limit"], said["most"], said["count"]) == ("pids", OF_PROCESSES, 300)


def test_what_is_met_all_the_time_is_told_after_a_rest(limited: Limited) -> None:
    limited.begin()
    limited.counts("memory.oom_control", "oom_kill", 1)
    limited.rings()
    limited.world.turn(SOON)
    limited.counts("memory.oom_control", "oom_kill", 7)

    limited.rings()
    limited.world.turn(SOON + REST / 2)
    assert [one["count"] for one in limited.told()] == [1]
    limited.world.turn(SOON + REST + 1)

    assert [one["count"] for one in limited.told()] == [6]
    assert limited.booked() == [("memory", 1), ("memory", 6)]


def test_after_a_rest_the_next_sign_is_heard_at_once(limited: Limited) -> None:
    limited.begin()
    limited.counts("memory.oom_control", "oom_kill", 1)
    limited.rings()
    limited.world.turn(SOON)
    limited.world.turn(SOON + REST + 1)
    limited.told()

    limited.counts("memory.oom_control", "oom_kill", 2)
    limited.rings()
    limited.world.turn(SOON)

    assert [one["count"] for one in limited.told()] == [1]


def test_a_successor_tells_the_rest_and_nothing_twice(limited: Limited) -> None:
    descriptors = limited.world.descriptors
    descriptors.held = descriptors.held._replace(met={"memory": 2, "pids": 10})
    limited.counts("memory.oom_control", "oom_kill", 2)
    limited.counts("pids.events", "max", 14)

    limited.begin()

    assert [(one["limit"], one["count"]) for one in limited.told()] == [("pids", 4)]
    assert descriptors.held.met == {"memory": 2, "pids": 14}


def test_a_session_without_limits_meets_none(limited: Limited) -> None:
    descriptors = limited.world.descriptors
    descriptors.held = descriptors.held._replace(capsule=None)

    limited.begin()
    limited.world.turn(2 * EVERY)

    assert (limited.told(), limited.booked()) == ([], [])
    assert descriptors.held.met == {}
