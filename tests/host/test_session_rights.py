import asyncio
from pathlib import Path

import pytest

from holdfast.core.book.entries import granted_fields
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.host.guests import Guest, guest_of
from holdfast.host.host_requests import RIGHTS, answer, request_in
from holdfast.host.session_rights import demand_there
from holdfast.linux.stored import operators, places
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId, Epoch, Incarnation, SessionId
from holdfast.model.session_requests import KINDS
from holdfast.wire.lines import Value

HERE = SessionId("s_" + "a" * 16)
OBSERVE = Envelope(frozenset({Right.OBSERVE}), HERE)
Told = tuple[EntryKind, dict[str, Value]]


@pytest.fixture
def anna(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guest:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    operators.enrol("anna", ActorKind.HUMAN, b"k" * 32, None, b"t" * 32)
    found = guest_of(b"k" * 32)
    assert found is not None
    return found


def write_book(*told: Told, torn: bytes = b"") -> None:
    book = Logbook(genesis(HERE))
    lines = []
    for kind, fields in told:
        entry = book.draft(kind, fields, Incarnation(1), Epoch(1), 1)
        book.commit(entry)
        lines.append(entry.line + b"\n")
    places.session_log(HERE).write_bytes(b"".join(lines) + torn)


def granted(actor: ActorId, envelope: Envelope) -> Told:
    return EntryKind.GRANTED, dict(granted_fields(actor, envelope, ActorId("")))


def revoked(actor: ActorId) -> Told:
    return EntryKind.REVOKED, {"actor": actor, "by": ""}


def may(guest: Guest, right: Right) -> bool:
    try:
        asyncio.run(demand_there(guest, right, HERE))
    except NotAllowed:
        return False
    return True


def test_a_session_that_never_heard_of_somebody_takes_nothing_from_it(
    anna: Guest,
) -> None:
    assert may(anna, Right.OBSERVE)
    write_book(revoked(ActorId("a_" + "b" * 32)))
    assert may(anna, Right.OBSERVE)


def test_what_a_session_revoked_stays_revoked_when_it_is_over(anna: Guest) -> None:
    write_book(granted(anna.id, OBSERVE), revoked(anna.id))

    assert not may(anna, Right.OBSERVE)


def test_what_a_session_granted_last_counts_and_no_more(anna: Guest) -> None:
    write_book(revoked(anna.id), granted(anna.id, OBSERVE))

    assert may(anna, Right.OBSERVE)
    assert not may(anna, Right.END)


def test_a_grant_that_has_run_out_is_none(anna: Guest) -> None:
    write_book(granted(anna.id, Envelope(OBSERVE.rights, HERE, 1.0)))

    assert not may(anna, Right.OBSERVE)


def test_a_book_that_grew_is_read_anew_and_a_torn_line_says_nothing(
    anna: Guest,
) -> None:
    write_book(granted(anna.id, OBSERVE), torn=b'{"index":2,"kind":"revoked","act')
    assert may(anna, Right.OBSERVE)

    write_book(granted(anna.id, OBSERVE), revoked(anna.id))
    assert not may(anna, Right.OBSERVE)


def test_a_book_of_another_life_is_read_from_its_beginning(anna: Guest) -> None:
    write_book(granted(anna.id, OBSERVE), revoked(anna.id))
    assert not may(anna, Right.OBSERVE)

    places.session_log(HERE).unlink()
    write_book(granted(anna.id, OBSERVE))
    assert may(anna, Right.OBSERVE)


@pytest.mark.parametrize("do", [do for do, kind in KINDS.items() if RIGHTS.get(kind)])
def test_a_session_that_has_revoked_somebody_answers_nothing_of_it(
    anna: Guest, do: str
) -> None:
    write_book(granted(anna.id, OBSERVE), revoked(anna.id))

    with pytest.raises(NotAllowed):
        asyncio.run(answer(anna, request_in({"do": do, "id": HERE})))
