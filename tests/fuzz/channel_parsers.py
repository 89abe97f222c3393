"""What of the sealed channel takes bytes it cannot trust?"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.crypto.handshake import Accepting, Opening
from holdfast.crypto.identity import Identity
from holdfast.crypto.noise import CipherState
from holdfast.crypto.rotation import accepted_rotation
from holdfast.crypto.sealing import Inbound
from holdfast.wire.channel import First, read_record, record_bytes
from holdfast.wire.invites import from_link
from holdfast.wire.opening import decode, encode

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "crypto/vectors/channel.json").read_text("utf-8")
)
HOST, OPERATOR = (
    Identity.from_seed(bytes.fromhex(VECTORS["identities"][name]["seed"]))
    for name in ("host", "operator")
)
EPHEMERAL = bytes(range(128, 160))


def _all(cases: list[dict[str, str]], name: str) -> list[bytes]:
    return [bytes.fromhex(case[name]) for case in cases]


def _messages(number: int) -> list[bytes]:
    return [
        bytes.fromhex(VECTORS[purpose]["messages"][number])
        for purpose in ("attach", "join")
    ]


def _first(data: bytes) -> None:
    assert First.from_bytes(data).to_bytes() == data
    Accepting(HOST, data, EPHEMERAL).reply()


def _reply(data: bytes) -> None:
    ephemeral = bytes.fromhex(VECTORS["attach"]["operator_ephemeral"])
    opening = Opening(OPERATOR, HOST.public, HOST.static_public, ephemeral)
    opening.first()
    opening.last(data)


def _sealed(data: bytes) -> None:
    Inbound(CipherState(bytes(32))).open(data)


def _record(data: bytes) -> None:
    record = read_record(data)
    assert record_bytes(record.kind, record.data).startswith(
        data[: 3 + len(record.data)]
    )


def _opening(data: bytes) -> None:
    assert encode(decode(data)) == data, "read, but not as it was written"


def _invite(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    found = from_link(text)
    assert from_link(found.to_link()) == found


CHANNEL_PARSERS: list[tuple[str, Callable[[bytes], object], list[bytes]]] = [
    ("crypto.handshake.first", _first, _messages(0)),
    ("crypto.handshake.reply", _reply, _messages(1)),
    ("crypto.sealing", _sealed, _messages(2)),
    (
        "crypto.rotation",
        lambda data: accepted_rotation(data, OPERATOR.public),
        [bytes.fromhex(VECTORS["rotation"]["rotation"])],
    ),
    ("wire.channel", _record, _all(VECTORS["records"], "record")),
    ("wire.opening", _opening, _all(VECTORS["opening"], "message")),
    (
        "wire.invites",
        _invite,
        [case["link"].encode() for case in VECTORS["invitations"]],
    ),
]
