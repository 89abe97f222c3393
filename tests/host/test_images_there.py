import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import CONTENT, SESSION, WHOLE

from holdfast.core.book.entries import granted_fields
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.crypto.keys import SigningKey
from holdfast.host import images_there, lost_there
from holdfast.host.guests import Guest, guest_of
from holdfast.host.host_requests import answer, request_in
from holdfast.linux.stored import image_store, operators, places
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import ImageNotFound, MalformedId, NotAllowed
from holdfast.model.ids import ActorId, Epoch, Incarnation, SessionId
from holdfast.model.image_record import ImageRecord, images_in
from holdfast.model.lost_record import LostRecord
from holdfast.model.session_requests import Recover

OTHER = SessionId("s_" + "b" * 16)
EVERYTHING = frozenset(Right)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def guest(envelope: Envelope | None = None, kind: ActorKind = ActorKind.HUMAN) -> Guest:
    terms = None if envelope is None else Terms("ab", envelope)
    operators.enrol("anna", kind, b"k" * 32, None, b"t" * 32, terms)
    found = guest_of(b"k" * 32)
    assert found is not None
    return found


def made(label: str = "", *, once: bool = False) -> None:
    """Make an image of the session, signed by this host."""
    with image_store.begin(SESSION) as draft:
        for name, data in CONTENT.items():
            draft.add(name, data)
        manifest = replace(WHOLE, number=draft.name.number, label=label, once=once)
        draft.finish(manifest, SigningKey.from_seed(host_seed()))


def book_says(actor: ActorId, rights: frozenset[Right]) -> None:
    """Have the session's logbook leave these rights to an actor, and no others."""
    book = Logbook(genesis(SESSION))
    fields = dict(granted_fields(actor, Envelope(rights, SESSION), ActorId("")))
    entry = book.draft(EntryKind.GRANTED, fields, Incarnation(1), Epoch(1), 1)
    places.session_log(SESSION).write_bytes(entry.line + b"\n")


def listed(who: Guest, session: str = "") -> list[ImageRecord]:
    (packet,) = asyncio.run(answer(who, request_in({"do": "images", "id": session})))
    return images_in(packet)


def remove(who: Guest, number: int, session: str = SESSION) -> None:
    packet = {"do": "remove_image", "id": session, "number": number}
    asyncio.run(answer(who, request_in(packet)))


def test_who_may_put_a_session_to_disk_sees_its_images_and_removes_one() -> None:
    anna = guest(Envelope(frozenset({Right.CHECKPOINT})))
    made("one")
    made("two")

    first, second = sorted(listed(anna), key=lambda one: one.number)
    assert (first.label, second.label) == ("one", "two")
    assert first.size == sum(map(len, CONTENT.values()))
    assert listed(anna, SESSION) == listed(anna)
    remove(anna, 1)
    assert [one.number for one in listed(anna)] == [2]
    with pytest.raises(ImageNotFound):
        remove(anna, 1)


def test_a_damaged_image_is_told_with_its_problem(tmp_path: Path) -> None:
    anna = guest()
    made()
    (manifest,) = tmp_path.rglob("manifest")
    manifest.write_bytes(b"{}")

    (one,) = listed(anna)

    assert one.problem
    assert (one.made_ms, one.size) == (0, 0)
    remove(anna, 1)
    assert listed(anna) == []


@pytest.mark.parametrize(
    "envelope",
    [
        Envelope(EVERYTHING - {Right.CHECKPOINT}),
        Envelope(EVERYTHING, OTHER),
    ],
)
def test_who_may_not_learns_of_no_image(envelope: Envelope) -> None:
    anna = guest(envelope)
    nothing = listed(anna)
    with pytest.raises(NotAllowed) as before:
        listed(anna, SESSION)
    made("secret plan")

    assert listed(anna) == nothing == []
    with pytest.raises(NotAllowed) as after:
        listed(anna, SESSION)
    assert str(after.value) == str(before.value)
    for number in (1, 2):
        with pytest.raises(NotAllowed):
            remove(anna, number)


def test_an_agent_sees_no_image_of_what_it_did_not_begin() -> None:
    made()

    assert listed(guest(kind=ActorKind.AGENT)) == []


def test_what_the_session_itself_has_taken_away_counts() -> None:
    anna = guest()
    made()
    book_says(anna.id, EVERYTHING - {Right.CHECKPOINT})

    assert listed(anna) == []
    with pytest.raises(NotAllowed):
        listed(anna, SESSION)
    with pytest.raises(NotAllowed):
        remove(anna, 1)
    with pytest.raises(NotAllowed):
        lost_there.vouched_for(anna, Recover(recovers=SESSION, image=1))
    lost_there.vouched_for(anna, Recover(recovers=SESSION))


def test_who_may_not_end_a_session_does_not_remove_all_that_there_is_of_it() -> None:
    made(once=True)
    made()
    anna = guest(Envelope(EVERYTHING - {Right.END}))

    with pytest.raises(NotAllowed):
        remove(anna, 1)
    remove(anna, 2)

    assert [one.number for one in listed(anna)] == [1]
    operators.forget("anna")
    remove(guest(Envelope(EVERYTHING)), 1)


@pytest.mark.parametrize("wanted", ["web", "../x", SESSION + "\n"])
def test_what_is_no_id_reaches_no_file(wanted: str) -> None:
    anna = guest()

    with pytest.raises(MalformedId):
        listed(anna, wanted)
    with pytest.raises(MalformedId):
        remove(anna, 1, wanted)


def test_what_does_not_fit_a_packet_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made("old")
    made("new")
    monkeypatch.setattr(images_there, "MAX_TOLD", 300)

    assert len(listed(guest())) == 1


def test_that_a_lost_session_has_images_is_told_to_who_may_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = LostRecord(SESSION, "web", 1, saved=3, saved_ms=5)
    monkeypatch.setattr(lost_there, "lost", lambda _: [one])

    (told,) = lost_there.told_to(guest(Envelope(frozenset({Right.OBSERVE}))), [])
    assert (told["saved"], told["saved_ms"]) == (0, 0)
    operators.forget("anna")
    (told,) = lost_there.told_to(guest(), [])
    assert (told["saved"], told["saved_ms"]) == (3, 5)
