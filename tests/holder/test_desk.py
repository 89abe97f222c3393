"""What the terminal has taken is booked, durable and acknowledged, in that order."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.desk_world import SESSION, World, world

from holdfast.core.logbook import EntryKind, recover
from holdfast.linux import folders
from holdfast.model.geometry import Size
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import Acknowledge


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with world() as made:
        made.told()
        yield made


def kinds() -> list[EntryKind]:
    raw = Path(folders.session_log(SESSION)).read_bytes()
    return [entry.kind for entry in recover(raw, SESSION).entries]


def acknowledged(desk: World) -> list[int]:
    return [one.sequence for one in desk.told() if isinstance(one, Acknowledge)]


def test_after_settling_nothing_waits_for_the_disk(desk: World) -> None:
    desk.submit(b"x")
    before = acknowledged(desk)

    desk.desk.settle()

    assert before == []
    assert desk.desk.sync_at() is None
    assert not desk.desk.must_sync(is_idle=True)
    assert acknowledged(desk) == [1]
    assert EntryKind.SETTLED in kinds()


def test_what_is_typed_waits_for_its_echo_before_it_is_booked(desk: World) -> None:
    desk.submit(b"x")

    assert kinds()[-1] is EntryKind.INPUT
    assert desk.desk.next_deadline() is not None
    desk.desk.printed()
    desk.desk.tick()
    assert desk.desk.sync_at() == 0.0
    assert desk.desk.must_sync(is_idle=True)
    assert acknowledged(desk) == []
    desk.desk.sync()
    assert acknowledged(desk) == [1]


def test_another_size_is_set_told_and_in_the_facts(desk: World) -> None:
    desk.submit(b"100x30", InputKind.RESIZE)

    assert desk.sizes == [Size(100, 30)]
    assert desk.facts["size"] == [100, 30]
    assert os.get_terminal_size(desk.slave) == (100, 30)
