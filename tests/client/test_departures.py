"""Moves that were begun here, and where those sessions went that are gone."""

from pathlib import Path

import pytest

from holdfast.client import departures
from holdfast.client.hosts import KnownHost
from holdfast.core.book.logbook import EntryKind
from holdfast.core.capsule.move_order import Stage
from holdfast.crypto import moved_word
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import host_book, move_notes
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import SessionMoved, StillAlive
from holdfast.model.ids import SessionId, host_id
from holdfast.model.session_record import SessionRecord

SESSION = SessionId("s_" + "a" * 16)
BETA = KnownHost("beta", b"b" * 32, b"s" * 32, ("http://127.0.0.1:9",))
OTHER = KnownHost("other", b"o" * 32, b"s" * 32, ())


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def note(stage: str, session: str = SESSION, name: str = "web") -> MoveNote:
    made = departures.first_note(
        SessionRecord(SessionId(session), name, incarnation=3, authority="http://r"),
        BETA,
    )._replace(stage=stage)
    move_notes.write(made)
    return made


def test_the_first_note_says_where_signed_by_this_host() -> None:
    made = note("")

    key = SigningKey.from_seed(host_seed()).public
    said = moved_word.read(made.told, SESSION, key)
    assert (said.host, said.public_key, said.life) == ("beta", BETA.public_key, 3)
    assert (made.relay, made.life, made.image) == ("http://r", 3, 0)


def test_a_session_is_meant_by_its_id_or_name() -> None:
    made = note(Stage.STOPPED.value)

    assert departures.noted(SESSION) == departures.noted("WEB") == made
    assert departures.noted("other") is None
    assert departures.gone("web") is None


def test_a_move_that_was_begun_is_finished_where_it_was_to_go() -> None:
    made = note(Stage.OFFERED.value)

    assert departures.begun("web", BETA) == made
    with pytest.raises(StillAlive, match="on its way to beta"):
        departures.begun("web", OTHER)


def test_a_session_that_is_gone_is_told_of_and_not_moved_again() -> None:
    made = note(Stage.GONE.value)

    assert departures.gone("web") == made
    with pytest.raises(SessionMoved, match="beta"):
        departures.begun("web", BETA)


def test_what_arrives_here_is_no_move_from_here() -> None:
    note(move_notes.ARRIVING)

    assert departures.begun("web", BETA) is None
    assert departures.gone("web") is None


def test_nobody_is_waited_for_who_has_left() -> None:
    departures.await_left(note(Stage.STOPPED.value))


def test_what_went_is_recorded_and_what_is_left_of_it_removed() -> None:
    made = note(Stage.GONE.value)._replace(successor=4, image=7)

    departures.forget(made)

    with host_book.writing() as book:
        assert book.last is not None
        assert book.last.kind is EntryKind.DEPARTED
        assert book.last.fields["to"] == host_id(BETA.public_key)
        assert book.last.fields["life"] == 4
    assert departures.gone("web") is not None, "where it went is forgotten"
