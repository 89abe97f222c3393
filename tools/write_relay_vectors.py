"""Write tests/wire/vectors/relay_messages.json: what is said to a relay, as bytes.

python -m tools.write_relay_vectors            write it
python -m tools.write_relay_vectors --check    exit 1 if it is not what would be written

    messages     a message of each kind, its fields, and its bytes
    refused      bytes that must not be read as a message
    statements   what a peer signs, with the seed of its key and the signature

Bytes are written in hexadecimal; inside fields, as {"bytes": "…"}.
"""

import json
from pathlib import Path

import msgspec
from tools.generated import write

from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import LeaseHeld, NotReachable
from holdfast.model.ids import Incarnation, actor_id, host_id, session_id
from holdfast.wire import relay_messages as m

TARGET = (
    Path(__file__).parent.parent / "tests" / "wire" / "vectors" / "relay_messages.json"
)

SEED = bytes(range(32))
KEY = SigningKey.from_seed(SEED)
NONCE = bytes(range(32, 64))
TICKET = bytes(range(16))
INVITE = bytes(range(16, 32))
ANNA = actor_id(b"\x01" * 32)
HOST = host_id(KEY.public)
SESSION = session_id(bytes(range(10)))
RELAY = "relay.example:8443"


def signed(role: m.Role, *wishes: bytes) -> bytes:
    """Return our signature of a statement."""
    return KEY.sign(m.statement(role, RELAY, NONCE, *wishes))


MESSAGES: tuple[m.RelayMessage, ...] = (
    m.Greet(m.VERSION, NONCE),
    m.Register(KEY.public, signed(m.Role.HOST)),
    m.Meet(KEY.public, TICKET, signed(m.Role.MEET, TICKET)),
    m.Reach(KEY.public, HOST, b"", signed(m.Role.OPERATOR, HOST.encode(), b"")),
    m.Reach(
        KEY.public,
        SESSION,
        INVITE,
        signed(m.Role.OPERATOR, SESSION.encode(), INVITE),
    ),
    m.Registered(HOST),
    m.Joined(HOST),
    m.refusal(NotReachable(HOST)),
    m.Admit(resets=True, actors=(ANNA,), invites=(INVITE,)),
    m.Dismiss((ANNA,), ()),
    m.Publish(resets=False, added=(SESSION,), removed=()),
    m.Knock(TICKET, ANNA, SESSION, INVITE),
    m.Leaving(),
    m.LeaseAsk(1, SESSION, Incarnation(0), Incarnation(7), speaking=False),
    m.LeaseGrant(1, Incarnation(8), 20_000),
    m.lease_refusal(2, LeaseHeld(HOST, 7, 1500)),
    m.LeaseRelease(SESSION, Incarnation(7)),
    m.LeaseEnd(SESSION, Incarnation(7)),
    m.Entrust(SESSION, (HOST,)),
)

REFUSED = {
    "nothing": b"",
    "fields in another order": msgspec.msgpack.encode(
        {"version": 1, "is": "greet", "nonce": NONCE}
    ),
    "a field too many": msgspec.msgpack.encode(
        {"is": "greet", "version": 1, "nonce": NONCE, "more": 0}
    ),
    "a number in more bytes than it needs": m.encode(m.Greet(1, NONCE)).replace(
        b"version\x01", b"version\xcc\x01"
    ),
    "a nonce too short": msgspec.msgpack.encode(
        {"is": "greet", "version": 1, "nonce": NONCE[1:]}
    ),
    "something behind it": m.encode(m.Leaving()) + b"\xc0",
    "an unknown message": msgspec.msgpack.encode({"is": "greeting"}),
    "a list": msgspec.msgpack.encode(["leaving"]),
}


def text() -> str:
    """Return the file as it should be."""
    wishes = {
        m.Role.HOST: (),
        m.Role.MEET: (TICKET,),
        m.Role.OPERATOR: (SESSION.encode(), INVITE),
    }
    content = {
        "messages": [
            {"fields": _plain(message), "bytes": m.encode(message).hex()}
            for message in MESSAGES
        ],
        "refused": [
            {"why": why, "bytes": written.hex()} for why, written in REFUSED.items()
        ],
        "statements": [
            {
                "seed": SEED.hex(),
                "role": role.value,
                "relay": RELAY,
                "nonce": NONCE.hex(),
                "wishes": [wish.hex() for wish in asked],
                "statement": m.statement(role, RELAY, NONCE, *asked).hex(),
                "signature": signed(role, *asked).hex(),
            }
            for role, asked in wishes.items()
        ],
    }
    return json.dumps(content, indent=2) + "\n"


def _plain(message: m.RelayMessage) -> object:
    def spelled(value: object) -> object:
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, dict):
            return {name: spelled(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [spelled(one) for one in value]
        return value

    return spelled(msgspec.msgpack.decode(m.encode(message)))


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
