import os
from pathlib import Path

import pytest

from holdfast.crypto.proof import is_creation_proof
from holdfast.host import lost_there
from holdfast.host.guests import Guest, guest_of
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import MalformedId, NotAllowed
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Recover, packet_of
from holdfast.wire.creation import recovery_bytes

ONE, TWO = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
KEY, TOKEN = b"k" * 32, b"t" * 32


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", os.fspath(tmp_path / name.lower()))


def guest(envelope: Envelope | None) -> Guest:
    terms = None if envelope is None else Terms("ab", envelope)
    operators.enrol("anna", ActorKind.HUMAN, KEY, None, TOKEN, terms)
    found = guest_of(KEY)
    assert found is not None
    return found


def test_the_host_vouches_for_who_has_proven_its_key() -> None:
    anna = guest(Envelope(frozenset({Right.CREATE, Right.INPUT})))
    asked = Recover(recovers=ONE, name="web", env={"LD_PRELOAD": "x"}, creator="a_me")

    found = lost_there.vouched_for(anna, asked)

    assert (found.creator, found.env, found.recovers) == (anna.id, None, ONE)
    raw = recovery_bytes(packet_of(found))
    assert is_creation_proof(TOKEN, raw, bytes.fromhex(found.proof))
    other = recovery_bytes(packet_of(found._replace(recovers=TWO)))
    assert not is_creation_proof(TOKEN, other, bytes.fromhex(found.proof))


@pytest.mark.parametrize(
    "envelope",
    [
        Envelope(frozenset(Right) - {Right.CREATE}),
        Envelope(frozenset(Right) - {Right.INPUT}),
        Envelope(frozenset(Right), ONE),  # Nobody creates by a right to one session.
        Envelope(frozenset(Right), TWO),
    ],
)
def test_without_both_rights_nobody_is_asked(envelope: Envelope) -> None:
    with pytest.raises(NotAllowed):
        lost_there.vouched_for(guest(envelope), Recover(recovers=ONE))


@pytest.mark.parametrize("wanted", ["", "web", "../x", ONE + "\n"])
def test_what_is_no_id_reaches_no_file(wanted: str) -> None:
    with pytest.raises(MalformedId):
        lost_there.vouched_for(guest(None), Recover(recovers=wanted))


def test_where_nothing_was_lost_nothing_is_told() -> None:
    assert lost_there.told_to(guest(None), []) == []
