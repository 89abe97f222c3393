"""What takes bytes it cannot trust at a relay's door, and behind it?"""

import json
from collections.abc import Callable
from pathlib import Path

from websockets.http11 import Request
from websockets.server import ServerProtocol

from holdfast.aio.relay_client import relay_address
from holdfast.core.relay.web_origin import OriginCheck
from holdfast.relay.http_front import HttpFront
from holdfast.wire.relay_messages import MAX_UNPROVEN, Role, decode, encode

VECTORS = json.loads(
    (Path(__file__).parent.parent / "wire/vectors/relay_messages.json").read_text(
        "utf-8"
    )
)
MESSAGES = [
    bytes.fromhex(case["bytes"]) for case in VECTORS["messages"] + VECTORS["refused"]
]
REQUEST = (
    b"GET /v1/operator HTTP/1.1\r\nHost: relay.example\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
)
REQUESTS = [
    REQUEST + b"\r\n",
    REQUEST + b"Origin: https://relay.example\r\n\r\n",
    REQUEST + b"Origin: null\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: relay.example\r\n\r\n",
]
ADDRESSES = [b"https://relay.example:8443/", b"http://[::1]:7447", b"http://localhost"]

_FRONT = HttpFront(
    OriginCheck(["relay.example"], "https"), {}, str, has_open_metrics=False
)


def _message(written: bytes) -> None:
    assert encode(decode(written)) == written, "read, but not as it was written"


def _proof(written: bytes) -> None:
    decode(written, MAX_UNPROVEN)


def _request(data: bytes) -> None:
    protocol = ServerProtocol(max_size=65_535)
    protocol.receive_data(data)
    for event in protocol.events_received():
        if isinstance(event, Request):
            answer = _FRONT.answer(event, "192.0.2.1")
            if isinstance(answer, Role):
                hosts = [v for k, v in event.headers.raw_items() if k.lower() == "host"]
                assert hosts == ["relay.example"], "let in under another name"
                protocol.accept(event)


def _address(data: bytes) -> None:
    address = relay_address(data.decode("utf-8", "surrogateescape"))
    assert address.scheme in ("http", "https")


RELAY_PARSERS: list[tuple[str, Callable[[bytes], object], list[bytes]]] = [
    ("relay.meeting", _message, MESSAGES),
    ("relay.proof", _proof, MESSAGES),
    ("relay.request", _request, REQUESTS),
    ("relay.address", _address, ADDRESSES),
]
