import json
from pathlib import Path
from typing import Any

import pytest
from tests.tools.running import run_tool

from holdfast.crypto import moved_word
from holdfast.crypto.fingerprints import short_fingerprint, spoken_fingerprint
from holdfast.crypto.handshake import Accepting, Established, Joining, Opening
from holdfast.crypto.identity import Identity, invite_psk
from holdfast.crypto.noise import CipherState
from holdfast.crypto.rotation import accepted_rotation
from holdfast.model.ids import actor_id, host_id
from holdfast.wire.channel import Record, RecordKind, read_record, record_bytes
from holdfast.wire.invites import from_link
from holdfast.wire.opening import decode, encode

ROOT = Path(__file__).parents[2]
VECTORS: dict[str, Any] = json.loads(
    (ROOT / "tests/crypto/vectors/channel.json").read_text("utf-8")
)
HOST, OPERATOR = (
    Identity.from_seed(bytes.fromhex(VECTORS["identities"][name]["seed"]))
    for name in ("host", "operator")
)


def raw(case: dict[str, Any], name: str) -> bytes:
    return bytes.fromhex(case[name])


def test_the_committed_vectors_are_what_the_code_makes() -> None:
    assert run_tool("write_channel_vectors", "--check").returncode == 0


@pytest.mark.parametrize("name", ["host", "operator"])
def test_identities_follow_from_their_seeds(name: str) -> None:
    case = VECTORS["identities"][name]
    made = Identity.from_seed(raw(case, "seed"))

    assert made.public == raw(case, "public")
    assert made.static_public == raw(case, "static_public")
    assert case["id"] in (actor_id(made.public), host_id(made.public))
    assert short_fingerprint(made.public) == case["short_fingerprint"]
    assert spoken_fingerprint(made.public) == case["spoken_fingerprint"]


def held(purpose: str) -> tuple[Established, Established]:
    case = VECTORS[purpose]
    first, reply, last = (bytes.fromhex(message) for message in case["messages"])
    ephemeral = raw(case, "operator_ephemeral")
    dialled: Opening | Joining = Opening(
        OPERATOR, HOST.public, HOST.static_public, ephemeral
    )
    secret = b""
    if purpose == "join":
        invite_id, secret = raw(case, "invite_id"), raw(case, "secret")
        assert invite_psk(secret, invite_id) == raw(case, "psk")
        dialled = Joining(OPERATOR, HOST.public, invite_id, secret, ephemeral)
    assert dialled.first() == first
    accepting = Accepting(HOST, first, raw(case, "host_ephemeral"))
    assert accepting.reply() == reply
    said, operator = dialled.last(reply)
    assert said == last
    return operator, accepting.finish(last, secret)


@pytest.mark.parametrize("purpose", ["attach", "join"])
def test_handshakes_and_their_first_frames_are_these(purpose: str) -> None:
    operator, host = held(purpose)

    assert operator.binding == host.binding == raw(VECTORS[purpose], "binding")
    for frame in VECTORS[purpose]["frames"]:
        listener = host if frame["from"] == "operator" else operator
        heard = listener.inbound.open(raw(frame, "message"))
        assert heard == Record(RecordKind[frame["kind"]], raw(frame, "data"))


def test_keys_are_changed_as_here() -> None:
    case = VECTORS["rekey"]
    state = CipherState(raw(case, "key"))

    assert state.open(raw(case, "sealed_with_count_0")) == b"before"
    state.rekey()
    after = raw(case, "sealed_with_count_1_after_rekeying")
    assert state.open(after) == b"after"


@pytest.mark.parametrize("case", VECTORS["records"], ids=lambda case: case["kind"])
def test_records_are_written_as_here(case: dict[str, Any]) -> None:
    kind, data = RecordKind[case["kind"]], raw(case, "data")

    assert record_bytes(kind, data) == raw(case, "record")
    assert read_record(raw(case, "record")) == Record(kind, data)


@pytest.mark.parametrize("case", VECTORS["opening"], ids=lambda case: case["name"])
def test_openings_are_written_as_here(case: dict[str, Any]) -> None:
    assert encode(decode(raw(case, "message"))) == raw(case, "message")


@pytest.mark.parametrize("case", VECTORS["invitations"])
def test_invitations_are_written_as_here(case: dict[str, Any]) -> None:
    found = from_link(case["link"])

    assert found.host_public == raw(case, "host_public")
    assert found.invite_id == raw(case, "invite_id")
    assert found.secret == raw(case, "secret")
    assert list(found.relays) == case["relays"]


def test_rotations_are_written_as_here() -> None:
    case = VECTORS["rotation"]
    following = Identity.from_seed(raw(case, "new_seed"))

    found = accepted_rotation(raw(case, "rotation"), OPERATOR.public)

    assert found.new == following.public


def test_where_a_session_went_is_said_as_here() -> None:
    case = VECTORS["moved"]

    word = moved_word.read(case["word"], case["session"], raw(case, "said_by"))

    keys = raw(case, "public"), raw(case, "static")
    said = (case["session"], case["life"], case["host"], *keys, tuple(case["relays"]))
    assert word == said
