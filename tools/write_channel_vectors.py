"""Write the bytes that every implementation of the sealed channel must agree on.

    python -m tools.write_channel_vectors            write what differs
    python -m tools.write_channel_vectors --check    fail if anything differs

Keys, and what is drawn at random in earnest, are fixed here, so everything that
follows is fixed too. docs/spec/channel.md says what the names mean.
"""

import json
from pathlib import Path

from tools.generated import write

from holdfast.crypto import moved_word
from holdfast.crypto.fingerprints import short_fingerprint, spoken_fingerprint
from holdfast.crypto.handshake import Accepting, Established, Joining, Opening
from holdfast.crypto.identity import Identity, Role, invite_psk, statement
from holdfast.crypto.keys import SigningKey
from holdfast.crypto.noise import CipherState
from holdfast.crypto.rotation import rotate
from holdfast.model.errors import SessionNotFound
from holdfast.model.ids import actor_id, host_id
from holdfast.wire.channel import Purpose, RecordKind, prologue, record_bytes
from holdfast.wire.invites import Invitation
from holdfast.wire.opening import HOST, Open, Opened, OpeningMessage, declined, encode

TARGET = Path(__file__).resolve().parent.parent / "tests/crypto/vectors/channel.json"

Json = dict[str, "Json"] | list["Json"] | str | int | None

HOST_SEED = bytes(range(32))
OPERATOR_SEED = bytes(range(32, 64))
NEXT_SEED = bytes(range(64, 96))
OPERATOR_EPHEMERAL = bytes(range(96, 128))
HOST_EPHEMERAL = bytes(range(128, 160))
INVITE_ID = bytes(range(160, 176))
SECRET = bytes(range(176, 192))
KEY = bytes(range(192, 224))
SESSION = "s_" + "abcdefgh234567ab"


def text() -> str:
    """Return the whole file."""
    host, operator = Identity.from_seed(HOST_SEED), Identity.from_seed(OPERATOR_SEED)
    vectors: Json = {
        "identities": {
            "host": _identity(HOST_SEED, host_id(host.public)),
            "operator": _identity(OPERATOR_SEED, actor_id(operator.public)),
        },
        "attach": _attach(host, operator),
        "join": _join(host, operator),
        "rekey": _rekey(),
        "records": _records(),
        "opening": _opening(),
        "invitations": [_invitation(host)],
        "rotation": _rotation(operator),
        "moved": _moved(host, operator),
    }
    return json.dumps(vectors, indent=1, ensure_ascii=False) + "\n"


def _identity(seed: bytes, name: str) -> Json:
    made = Identity.from_seed(seed)
    return {
        "seed": seed.hex(),
        "public": made.public.hex(),
        "static_public": made.static_public.hex(),
        "id": name,
        "short_fingerprint": short_fingerprint(made.public),
        "spoken_fingerprint": spoken_fingerprint(made.public),
    }


def _attach(host: Identity, operator: Identity) -> Json:
    spoken = prologue(host_id(host.public), Purpose.ATTACH)
    dialled = Opening(operator, host.public, host.static_public, OPERATOR_EPHEMERAL)
    return _handshake(host, operator, spoken, dialled)


def _join(host: Identity, operator: Identity) -> Json:
    spoken = prologue(host_id(host.public), Purpose.JOIN, INVITE_ID)
    dialled = Joining(operator, host.public, INVITE_ID, SECRET, OPERATOR_EPHEMERAL)
    made = _handshake(host, operator, spoken, dialled)
    psk = invite_psk(SECRET, INVITE_ID)
    return {
        "invite_id": INVITE_ID.hex(),
        "secret": SECRET.hex(),
        "psk": psk.hex(),
        **made,
    }


def _handshake(
    host: Identity, operator: Identity, spoken: bytes, dialled: Opening | Joining
) -> dict[str, Json]:
    first = dialled.first()
    accepting = Accepting(host, first, HOST_EPHEMERAL)
    reply = accepting.reply()
    last, ours = dialled.last(reply)
    theirs = accepting.finish(last, SECRET)
    return {
        "prologue": spoken.decode(),
        "operator_ephemeral": OPERATOR_EPHEMERAL.hex(),
        "host_ephemeral": HOST_EPHEMERAL.hex(),
        "operator_statement": statement(operator, Role.OPERATOR, spoken).hex(),
        "host_statement": statement(host, Role.HOST, spoken).hex(),
        "messages": [message.hex() for message in (first, reply, last)],
        "binding": ours.binding.hex(),
        "frames": [*_frames("operator", ours), *_frames("host", theirs)],
    }


def _frames(sender: str, side: Established) -> list[Json]:
    said = [
        (RecordKind.DATA, b"x"),
        (RecordKind.DATA, f"from the {sender}".encode()),
        (RecordKind.END, b""),
    ]
    return [
        {
            "from": sender,
            "kind": kind.name,
            "data": data.hex(),
            "message": side.outbound.seal(kind, data).hex(),
        }
        for kind, data in said
    ]


def _rekey() -> Json:
    state = CipherState(KEY)
    before = state.seal(b"before")
    state.rekey()
    return {
        "key": KEY.hex(),
        "sealed_with_count_0": before.hex(),
        "sealed_with_count_1_after_rekeying": state.seal(b"after").hex(),
    }


def _records() -> Json:
    cases = [
        (RecordKind.CONFIRM, b""),
        (RecordKind.DATA, b"\r"),
        (RecordKind.DATA, bytes(61)),
        (RecordKind.DATA, bytes(62)),
        (RecordKind.END, b""),
    ]
    return [
        {
            "kind": kind.name,
            "data": data.hex(),
            "record": record_bytes(kind, data).hex(),
        }
        for kind, data in cases
    ]


def _opening() -> Json:
    messages: dict[str, OpeningMessage] = {
        "open the host": Open(1, HOST),
        "open a session": Open(1, SESSION),
        "opened": Opened(1),
        "declined": declined(SessionNotFound(SESSION)),
    }
    return [
        {"name": name, "message": encode(message).hex()}
        for name, message in messages.items()
    ]


def _invitation(host: Identity) -> Json:
    relays = ("https://relay.example", "https://[2001:db8::1]:8443")
    made = Invitation(host.public, INVITE_ID, SECRET, relays)
    return {
        "host_public": made.host_public.hex(),
        "invite_id": made.invite_id.hex(),
        "secret": made.secret.hex(),
        "relays": list(relays),
        "link": made.to_link(),
    }


def _rotation(operator: Identity) -> Json:
    following = Identity.from_seed(NEXT_SEED)
    return {
        "new_seed": NEXT_SEED.hex(),
        "rotation": rotate(operator, following).to_bytes().hex(),
    }


def _moved(host: Identity, other: Identity) -> Json:
    relays = ("https://relay.example", "http://127.0.0.1:8080")
    keys = other.public, other.static_public
    word = moved_word.MovedWord(SESSION, 3, "beta", *keys, relays)
    return {
        "session": word.session,
        "life": word.life,
        "host": word.host,
        "public": word.public_key.hex(),
        "static": word.static_key.hex(),
        "relays": list(relays),
        "said_by": host.public.hex(),
        "word": moved_word.issue(word, SigningKey.from_seed(HOST_SEED)),
    }


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
