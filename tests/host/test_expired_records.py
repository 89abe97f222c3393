"""What a host forgets of sessions that ended long ago, and what it leaves alone."""

import os
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.core.session.expired_records import KEEP_FOR, KEEP_LOG_FOR
from holdfast.host.expired_records import _ended, clear_away
from holdfast.linux.stored import layer_store, places
from holdfast.model.ids import SessionId, session_id

LEFT = SessionId("s_" + "q" * 16)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_a_record_and_a_book_go_when_they_are_old_and_a_live_session_stays(
    here: Machine,
) -> None:
    lives, ended = here.new("sleep", "600"), here.new("true")

    def has_ended() -> bool:
        facts = here.facts(ended)
        return facts is not None and facts["exit"] is not None

    eventually("it has ended", has_ended)
    book = places.session_log(LEFT)
    part = book.with_name(f"{book.name}.1")
    # Many, for folders are listed in any order.
    strangers = [book.with_name(f"s_notes{number}.log") for number in range(20)]
    now = time.time_ns() / 1e9
    for path in (book, part, *strangers):
        path.write_bytes(b"")
        os.utime(path, (now, now))

    alone = session_id(bytes(10))
    for session in (LEFT, alone):
        layer_store.make(session, ())

    assert clear_away(now) == 0
    assert len(layer_store.sessions()) == 2
    assert clear_away(now + KEEP_FOR + 60) == 2
    assert layer_store.sessions() == [LEFT]
    assert here.facts(ended) is None
    assert here.facts(lives) is not None
    later = now + KEEP_LOG_FOR + 60
    os.utime(book, (0, 0))
    os.utime(part, (later, later))
    clear_away(later)
    assert book.exists()
    assert layer_store.sessions() == [LEFT]
    os.utime(part, (0, 0))
    clear_away(later)
    assert [one for one in (book, part) if one.exists()] == []
    assert layer_store.sessions() == []
    assert all(one.exists() for one in strangers)
    assert places.session_log(lives).exists()


def test_what_has_ended_is_known_by_its_status_or_by_its_state() -> None:
    one, two, three, four = (f"s_{letter * 16}" for letter in "abcd")
    listed: list[object] = [
        {"id": one, "exit": 0, "ended_ms": 5000, "keep": True},
        {"id": two, "state": "exited"},
        {"id": three, "state": "running", "ended_ms": 1},
        {"id": four, "exit": None},
    ]

    found = [(it.session, it.ended_wall, it.is_kept) for it in _ended(listed)]

    assert found == [(one, 5.0, True), (two, None, False)]
