"""What of a host, and of whoever asks one, takes bytes it cannot trust?"""

from collections.abc import Callable

from holdfast.core.input.introduction import Introduction
from holdfast.model.ids import actor_id
from holdfast.wire import messages as wire
from holdfast.wire.codec import encode
from holdfast.wire.host_requests import PacketReader, error_from, packet_bytes
from holdfast.wire.versions import SPOKEN

ANNA = actor_id(b"anna")
CHALLENGE = encode(wire.Challenge(bytes(32)))


def _packets(data: bytes) -> None:
    reader = PacketReader()
    reader.feed(data)
    while (packet := reader.take()) is not None:
        error_from(packet)


def _introduced(data: bytes) -> None:
    introduction = Introduction(ANNA, lambda nonce: nonce)
    introduction.from_holder(CHALLENGE)
    introduction.from_operator(data)


def _challenged(data: bytes) -> None:
    Introduction(ANNA, lambda nonce: nonce).from_holder(data)


HOST_PARSERS: list[tuple[str, Callable[[bytes], object], list[bytes]]] = [
    (
        "wire.host_requests",
        _packets,
        [
            packet_bytes({"do": "list"}),
            packet_bytes({"ok": False, "code": "busy", "text": "", "facts": {}}),
        ],
    ),
    (
        "core.input.introduction",
        _introduced,
        [
            encode(wire.Hello(SPOKEN, "test", "cli"))
            + encode(wire.Identify(ANNA, bytes(32)))
        ],
    ),
    ("core.input.introduction.holder", _challenged, [CHALLENGE]),
]
