import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.session.paint_requests import Past
from holdfast.core.session.recovery import LeaderMark, OutputTail, StartFacts
from holdfast.linux.stored import recovery_files, recovery_places
from holdfast.model.errors import MalformedMessage
from holdfast.model.ids import Incarnation, SessionId

ONE = SessionId("s_" + "a" * 16)
TWO = SessionId("s_" + "b" * 16)
CANARY = "hunter2-is-a-secret"
FACTS = StartFacts(
    session=ONE,
    incarnation=Incarnation(1),
    name="web",
    first_name="web",
    command=("sh",),
    cwd="/",
    environment={"TOKEN": CANARY},
    is_grounded=False,
    size=(80, 24),
    window=1 << 20,
    integration=False,
    exec_gate=False,
    creator="a_x",
    created_ms=1,
    leader=LeaderMark(0, 0, ""),
)
TAIL = OutputTail(
    Incarnation(1),
    10,
    "web",
    keep=False,
    size=(80, 24),
    start=0,
    data=b"printed",
    painting=Past(is_whole=True, begin=0, sizes=(), kept=None),
)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    return Path(recovery_places.folder())


def write_tail(session: SessionId, tail: OutputTail, slot: int) -> None:
    writing = recovery_files.TailWriting(session, tail, slot)
    while not writing.go_on():
        pass


def test_a_life_counts_from_when_its_command_has_begun(folder: Path) -> None:
    recovery_files.write_next(FACTS)
    assert recovery_places.recorded() == []

    recovery_files.begin(ONE)

    assert recovery_places.recorded() == [ONE]
    assert recovery_files.facts_of(ONE) == FACTS
    [path] = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert CANARY.encode() not in path.read_bytes()
    with pytest.raises(FileNotFoundError):
        recovery_files.begin(ONE)


def test_the_newest_tail_that_opens_is_read(folder: Path) -> None:
    assert recovery_files.tail_of(ONE) is None
    write_tail(ONE, TAIL, 0)
    newer = replace(TAIL, at_ms=20, data=b"printed more")
    write_tail(ONE, newer, 1)
    recovery_files.make_durable(ONE)
    assert recovery_files.tail_of(ONE) == newer

    path = folder / f"{ONE}.tail1"
    path.write_bytes(path.read_bytes()[:-1])

    assert recovery_files.tail_of(ONE) == TAIL
    later = replace(TAIL, incarnation=Incarnation(2), at_ms=5)
    write_tail(ONE, later, 1)
    assert recovery_files.tail_of(ONE) == later


def test_a_tail_is_written_bit_by_bit_and_the_older_one_first(folder: Path) -> None:
    assert recovery_files.older_slot(ONE) == 0
    large = replace(TAIL, data=bytes(3 * recovery_files.BIT))
    write_tail(ONE, large, 0)
    assert recovery_files.older_slot(ONE) == 1
    newer = replace(large, at_ms=20)
    writing = recovery_files.TailWriting(ONE, newer, 1)

    assert not writing.go_on()  # It is not yet there, and the older one counts.
    writing.close()
    assert recovery_files.tail_of(ONE) == large
    os.utime(folder / f"{ONE}.tail0", ns=(0, 0))
    write_tail(ONE, newer, 1)
    assert recovery_files.tail_of(ONE) == newer
    assert recovery_files.older_slot(ONE) == 0
    shorter = replace(newer, at_ms=30, data=b"less")
    write_tail(ONE, shorter, 1)
    assert recovery_files.tail_of(ONE) == shorter


def test_nothing_is_written_into_what_is_not_a_file_of_ours(folder: Path) -> None:
    path, other = folder / f"{ONE}.tail0", folder / "other"
    other.write_bytes(b"as it was")
    path.symlink_to(other)
    with pytest.raises(OSError, match="symbolic"):
        write_tail(ONE, TAIL, 0)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="No such device"):
        write_tail(ONE, TAIL, 0)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(MalformedMessage, match="not a holdfast file"):
        write_tail(ONE, TAIL, 0)
    os.close(reader)
    assert other.read_bytes() == b"as it was"


def test_a_full_disk_ends_a_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    writing = recovery_files.TailWriting(ONE, TAIL, 0)
    monkeypatch.setattr(writing, "_fd", os.open("/dev/full", os.O_WRONLY))

    with pytest.raises(OSError, match="No space"):
        writing.go_on()

    writing.close()
    assert recovery_files.tail_of(ONE) is None


def test_a_life_on_its_way_is_known(folder: Path) -> None:
    assert recovery_files.next_of(ONE) is None
    recovery_files.write_next(FACTS)
    assert recovery_files.next_of(ONE) == FACTS
    (folder / f"{ONE}.next").write_bytes(b"nothing of ours")
    assert recovery_files.next_of(ONE) is None
    recovery_files.write_facts(FACTS)
    assert recovery_files.facts_of(ONE) == FACTS


def test_what_is_not_a_file_of_ours_is_not_read(folder: Path) -> None:
    recovery_files.write_next(FACTS)
    recovery_files.begin(ONE)
    path = folder / f"{ONE}.facts"
    path.rename(folder / f"{TWO}.facts")
    with pytest.raises(MalformedMessage):
        recovery_files.facts_of(TWO)
    with pytest.raises(FileNotFoundError):
        recovery_files.facts_of(ONE)
    path.symlink_to(folder / f"{TWO}.facts")
    with pytest.raises(OSError, match="symbolic"):
        recovery_files.facts_of(ONE)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(MalformedMessage, match="not a holdfast file"):
        recovery_files.facts_of(ONE)


def test_a_disk_is_left_room_for_logbooks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery_files, "ROOM", 1 << 62)

    with pytest.raises(OSError, match="No space"):
        recovery_files.write_next(FACTS)

    assert [*folder.iterdir()] == []


def test_nothing_durable_is_made_of_nothing(folder: Path) -> None:
    recovery_files.make_durable(ONE)

    assert [*folder.iterdir()] == []
