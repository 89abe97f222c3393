"""When what is printed gets to disk, and what a full one costs."""

import math
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.session.doze import Nap
from holdfast.core.session.left_behind import LeftBehind
from holdfast.core.session.paint_requests import Past
from holdfast.core.session.recovery import FLUSH_AFTER, MAX_TAIL, LeaderMark, StartFacts
from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.record.recovery_record import FACTS_AFTER, RecoveryRecord
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux.stored import recovery_files, recovery_places
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.model.session_record import Cells, HeldRecord, SessionRecord

SESSION = SessionId("s_" + "a" * 16)
FACTS = StartFacts(
    session=SESSION,
    incarnation=FIRST_INCARNATION,
    name="web",
    first_name="web",
    command=("sh",),
    cwd="/",
    environment={},
    is_grounded=False,
    size=(80, 24),
    window=1 << 20,
    integration=False,
    exec_gate=False,
    creator="a_x",
    created_ms=1,
    leader=LeaderMark(0, 0, ""),
)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    return Path(recovery_places.folder())


@pytest.fixture
def descriptors() -> Iterator[SessionDescriptors]:
    record = SessionRecord(SESSION, "web", size=Cells(80, 24))
    with socket.socket() as listener:
        memory = os.memfd_create("window")
        yield SessionDescriptors(
            record, HeldRecord(), 0, memory, listener, 0, origin=FACTS
        )
        os.close(memory)


def window() -> StreamWindow:
    return StreamWindow.create(memoryview(bytearray(HEADER + 2 * MAX_TAIL)))


def test_what_it_was_started_with_is_on_disk_soon(
    descriptors: SessionDescriptors, folder: Path
) -> None:
    timers = Timers()
    record = RecoveryRecord(descriptors, window(), timers)

    record.begun(0.0)

    assert [*folder.iterdir()] == []  # Who starts it does not wait for that.
    timers.tick(FACTS_AFTER)
    assert recovery_files.facts_of(SESSION) == FACTS


def test_what_is_printed_is_on_disk_after_a_while_and_once(
    descriptors: SessionDescriptors,
) -> None:
    timers, stream = Timers(), window()
    record = RecoveryRecord(descriptors, stream, timers)
    record.begun(0.0)
    timers.tick(FACTS_AFTER)
    stream.append(b"x" * MAX_TAIL + b"the end")
    assert not record.is_stale

    record.printed(100.0)

    assert record.is_stale
    assert timers.first == 100.0 + FLUSH_AFTER
    assert not timers.waits  # It keeps nobody from dozing.
    while timers.first == 100.0 + FLUSH_AFTER:
        assert recovery_files.tail_of(SESSION) is None
        timers.tick(timers.first)
    tail = recovery_files.tail_of(SESSION)
    assert tail is not None
    assert tail.end == stream.end
    assert len(tail.data) == MAX_TAIL
    assert tail.data.endswith(b"the end")
    assert not record.is_stale


def test_keys_come_between_the_bits_and_what_is_printed_then_is_not_forgotten(
    descriptors: SessionDescriptors,
) -> None:
    timers, stream = Timers(), window()
    record = RecoveryRecord(descriptors, stream, timers)
    record.begun(0.0)
    timers.tick(FACTS_AFTER)
    stream.append(b"x" * MAX_TAIL)
    record.printed(0.0)
    timers.tick(FLUSH_AFTER)
    stream.append(b"later")

    record.printed(FLUSH_AFTER)

    turns = 0
    while timers.first == FLUSH_AFTER:
        timers.tick(FLUSH_AFTER)
        turns += 1
    assert turns > MAX_TAIL // recovery_files.BIT
    assert timers.first == 2 * FLUSH_AFTER
    assert record.is_stale


def test_one_that_falls_asleep_amid_a_write_has_all_of_it_on_disk(
    descriptors: SessionDescriptors,
) -> None:
    timers, stream = Timers(), window()
    record = RecoveryRecord(descriptors, stream, timers)
    record.begun(0.0)
    stream.append(b"x" * MAX_TAIL)
    record.printed(0.0)
    timers.tick(FLUSH_AFTER)
    stream.append(b"the end")
    record.printed(FLUSH_AFTER)

    record.rest()

    tail = recovery_files.tail_of(SESSION)
    assert tail is not None
    assert tail.data.endswith(b"the end")


def test_a_successor_keeps_what_its_predecessor_could_not(
    descriptors: SessionDescriptors,
) -> None:
    descriptors.origin = None
    descriptors.record = descriptors.record._replace(pid=os.getpid(), command=("sh",))
    record = RecoveryRecord(descriptors, window(), Timers())
    record.begun(0.0)

    record.rest()

    found = recovery_files.facts_of(SESSION)
    assert found.command == ("sh",)
    assert found.leader.pid == os.getpid()
    assert found.environment is not None
    assert "PATH" in found.environment


def test_what_ends_amid_a_write_leaves_nothing(
    descriptors: SessionDescriptors, folder: Path
) -> None:
    timers, stream = Timers(), window()
    record = RecoveryRecord(descriptors, stream, timers)
    record.begun(0.0)
    stream.append(b"x" * MAX_TAIL)
    record.printed(0.0)
    timers.tick(FLUSH_AFTER)

    assert not record.over()

    assert [*folder.iterdir()] == []
    timers.refresh()
    assert timers.first == math.inf


def test_a_full_disk_is_tried_again_with_the_next_output(
    descriptors: SessionDescriptors, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers, stream = Timers(), window()
    record = RecoveryRecord(descriptors, stream, timers)
    with monkeypatch.context() as full:
        full.setattr(recovery_files, "ROOM", 1 << 62)
        record.begun(0.0)
        record.printed(0.0)
        timers.tick(FLUSH_AFTER)
        assert [*folder.iterdir()] == []

    stream.append(b"more")
    record.rest()

    assert recovery_files.facts_of(SESSION) == FACTS
    tail = recovery_files.tail_of(SESSION)
    assert tail is not None
    assert tail.data == b"more"
    assert descriptors.origin is None


def test_a_session_that_wakes_and_sleeps_again_writes_nothing(
    descriptors: SessionDescriptors, folder: Path
) -> None:
    first = RecoveryRecord(descriptors, window(), Timers())
    first.begun(0.0)
    first.rest()
    before = {one: one.stat().st_ino for one in folder.iterdir()}
    descriptors.woken = LeftBehind(
        Nap(1.0, 30.0, 10, 20, 0.5),
        is_staged=False,
        painting=Past(is_whole=True, begin=0, sizes=(), kept=None),
    )

    woken = RecoveryRecord(descriptors, window(), Timers())
    woken.begun(0.0)
    woken.rest()

    assert {one: one.stat().st_ino for one in folder.iterdir()} == before
    descriptors.record = descriptors.record._replace(name="another")
    woken.rest()
    tail = recovery_files.tail_of(SESSION)
    assert tail is not None
    assert tail.name == "another"


def test_a_session_that_is_over_leaves_nothing(
    descriptors: SessionDescriptors, folder: Path
) -> None:
    timers, stream = Timers(), window()
    record = RecoveryRecord(descriptors, stream, timers)
    record.begun(0.0)
    record.rest()
    assert [*folder.iterdir()]

    assert not record.over()

    assert [*folder.iterdir()] == []
    assert record.is_stale  # Nobody asks it to write again.


def test_a_life_that_never_began_leaves_the_earlier_one(
    descriptors: SessionDescriptors, folder: Path
) -> None:
    recovery_files.write_next(FACTS)
    recovery_files.begin(SESSION)
    recovery_files.write_next(FACTS)
    descriptors.record = descriptors.record._replace(incarnation=2)
    record = RecoveryRecord(descriptors, window(), Timers())

    assert record.over()

    assert [one.suffix for one in folder.iterdir()] == [".facts"]


def test_nothing_is_written_of_a_command_that_waits(
    descriptors: SessionDescriptors, folder: Path
) -> None:
    descriptors.start = [0, 1]
    record = RecoveryRecord(descriptors, window(), Timers())

    record.rest()

    assert [*folder.iterdir()] == []
