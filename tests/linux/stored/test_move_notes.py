"""What is written down of a move, and is believed again only as it was written."""

import json
import os
from pathlib import Path

import pytest

from holdfast.linux.stored import move_notes, recovery_places
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import StillAlive
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)
OTHER = SessionId("s_" + "b" * 16)
NOTE = MoveNote(
    session=SESSION,
    stage="offered",
    host="beta",
    public_key="ab" * 32,
    relays=("http://one", "http://two"),
    name="web",
    life=3,
    image=7,
)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def path_of(session: SessionId = SESSION) -> Path:
    return Path(recovery_places.path_of(session, recovery_places.MOVE))


def test_a_note_is_found_as_it_was_written() -> None:
    assert move_notes.find(SESSION) is None

    move_notes.write(NOTE)

    assert move_notes.find(SESSION) == NOTE
    assert move_notes.find(OTHER) is None


def test_a_later_stage_takes_the_place_of_the_one_before() -> None:
    move_notes.write(NOTE)
    later = NOTE._replace(stage="gone", successor=4)
    move_notes.write(later)

    assert move_notes.all_notes() == [later]
    move_notes.write(NOTE._replace(session=OTHER))
    assert [one.session for one in move_notes.all_notes()] == [SESSION, OTHER]


def test_a_note_that_was_changed_is_none() -> None:
    move_notes.write(NOTE)
    facts = json.loads(path_of().read_bytes())
    path_of().write_text(json.dumps(facts | {"host": "evil"}))

    assert move_notes.find(SESSION) is None
    assert move_notes.all_notes() == []


def test_a_note_of_another_session_is_none_of_this_one() -> None:
    move_notes.write(NOTE)
    path_of(OTHER).write_bytes(path_of().read_bytes())

    assert move_notes.find(OTHER) is None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b"\xff"])
def test_nonsense_is_no_note(raw: bytes) -> None:
    path_of().write_bytes(raw)

    assert move_notes.find(SESSION) is None


def test_a_note_is_removed_once_and_nobody_minds_twice() -> None:
    move_notes.write(NOTE)
    move_notes.remove(SESSION)
    move_notes.remove(SESSION)

    assert move_notes.find(SESSION) is None


def test_one_at_a_time_moves_a_session() -> None:
    lock = move_notes.lock(SESSION)
    with pytest.raises(StillAlive, match="being moved"):
        move_notes.lock(SESSION)
    os.close(move_notes.lock(OTHER))
    os.close(lock)

    os.close(move_notes.lock(SESSION))
