from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.core.relay.lease_registry import Record
from holdfast.model.ids import HostId, Incarnation, SessionId
from holdfast.ports.lease_store import Kept, LeaseStore
from holdfast.relay.sqlite_store import SqliteLeaseStore
from holdfast.testing.lease_store import MemoryLeaseStore

S, T = SessionId("s_one"), SessionId("s_two")
A, B = HostId("h_a"), HostId("h_b")
RECORD = Record(S, A, Incarnation(1), 20.0)

Open = Callable[[], LeaseStore]


@pytest.fixture(params=["sqlite", "memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    if request.param == "sqlite":
        return lambda: SqliteLeaseStore(tmp_path / "store")
    kept = MemoryLeaseStore()
    return lambda: kept


def kept(opened: Open) -> Kept:
    store = opened()
    try:
        return store.load()
    finally:
        store.close()


def test_what_was_written_is_there_when_it_is_opened_again(opened: Open) -> None:
    store = opened()
    store.put(RECORD)
    store.put(Record(T, B, Incarnation(2**40), 5.5, is_invalidated=True))
    store.entrust(S, frozenset({A, B}))
    store.close()

    assert kept(opened) == Kept(
        (RECORD, Record(T, B, Incarnation(2**40), 5.5, is_invalidated=True)),
        {S: frozenset({A, B})},
    )


def test_a_record_takes_the_place_of_the_former_one(opened: Open) -> None:
    store = opened()
    store.put(RECORD)
    store.put(Record(S, B, Incarnation(2), 20.0))
    store.entrust(S, frozenset({A}))
    store.entrust(S, frozenset())
    store.close()

    assert kept(opened) == Kept((Record(S, B, Incarnation(2), 20.0),), {S: frozenset()})


def test_a_forgotten_session_leaves_nothing(opened: Open) -> None:
    store = opened()
    store.put(RECORD)
    store.entrust(S, frozenset({A}))
    store.forget(S)
    store.forget(T)
    store.close()

    assert kept(opened) == Kept((), {})
