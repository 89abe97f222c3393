"""What is said first is what `relay_messages`, `opening` and `host_requests` say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.aio.relay_client import relay_address
from holdfast.core.relay.unproven_connections import is_loopback
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import host_id, session_id
from holdfast.model.session_requests import ListSessions, OpenSession, packet_of
from holdfast.wire import (
    channel,
    first_relay_messages,
    host_requests,
    opening,
    relay_messages,
)
from holdfast.wire.first_messages import NotOneOfThese

HOST = host_id(b"h" * 32)
OTHER = host_id(b"o" * 32)
SESSION = session_id(b"s" * 10)
NONCE = b"n" * 32


def test_constants_are_the_same() -> None:
    assert first_relay_messages.VERSION == relay_messages.VERSION == channel.VERSION
    assert first_relay_messages.NONCE == relay_messages.NONCE
    assert first_relay_messages.MAX_PACKET == host_requests.MAX_PACKET
    assert first_relay_messages.HOST == opening.HOST
    assert relay_messages.Role.OPERATOR.value == first_relay_messages.OPERATOR


def test_what_is_written_is_what_the_codecs_write() -> None:
    reach = relay_messages.Reach(b"k" * 32, HOST, b"", b"s" * 64)
    assert first_relay_messages.reach(
        b"k" * 32, HOST, b"s" * 64
    ) == relay_messages.encode(reach)
    asked = opening.encode(opening.Open(channel.VERSION, opening.HOST))
    assert first_relay_messages.open_host() == asked
    listed = host_requests.packet_bytes(packet_of(ListSessions()))
    assert first_relay_messages.ask_for_list() == listed
    led = host_requests.packet_bytes(packet_of(OpenSession(SESSION)))
    assert first_relay_messages.ask_to_lead(SESSION) == led
    signed = relay_messages.stated(reach, "box:1", NONCE)
    wishes = (HOST.encode(), b"")
    assert first_relay_messages.statement("operator", "box:1", NONCE, *wishes) == signed


def test_what_the_codecs_write_is_read() -> None:
    assert (
        first_relay_messages.nonce_in(
            relay_messages.encode(relay_messages.Greet(1, NONCE))
        )
        == NONCE
    )
    first_relay_messages.check_joined(
        relay_messages.encode(relay_messages.Joined(HOST)), HOST
    )
    first_relay_messages.check_opened(opening.encode(opening.Opened(1)))
    held = bytearray(host_requests.packet_bytes({"ok": True, "sessions": []}) + b"rest")
    assert first_relay_messages.answer_in(held) == {"ok": True, "sessions": []}
    assert held == b"rest"


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"\xc0", b"\x80", b"\x81\xa2is\xa5greet", b"garbage"),
        relay_messages.encode(relay_messages.Greet(2, NONCE)),
        relay_messages.encode(relay_messages.Registered(HOST)),
        relay_messages.encode(relay_messages.Joined(OTHER)),
        relay_messages.encode(relay_messages.Refused("not-reachable", "no", {})),
        opening.encode(opening.Declined("not-allowed", "no", {})),
        opening.encode(opening.Open(1, "host")),
        b"\x82\xa2is\xa6opened\xa7version\x02",
        b"\x83\xa2is\xa5greet\xa7version\x01\xa5nonce\xc4\x01x",
        b"\x83\xa2is\xa5greet\xa7version\x01\xa5nonce\xa1x",
    ],
)
def test_what_is_something_else_is_left(raw: bytes) -> None:
    for read in (
        first_relay_messages.nonce_in,
        first_relay_messages.check_opened,
        lambda one: first_relay_messages.check_joined(one, HOST),
    ):
        with pytest.raises(NotOneOfThese):
            read(raw)


def test_an_answer_is_waited_for_and_one_that_is_none_is_left() -> None:
    raw = host_requests.packet_bytes({"ok": True})
    for end in range(len(raw)):
        assert first_relay_messages.answer_in(bytearray(raw[:end])) is None
    for bad in (
        host_requests.packet_bytes({"ok": False, "code": "not-allowed"}),
        (first_relay_messages.MAX_PACKET + 1).to_bytes(4),
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x02{x",
        (60_000).to_bytes(4) + b"[" * 60_000,
    ):
        with pytest.raises(NotOneOfThese):
            first_relay_messages.answer_in(bytearray(bad))


URLS = [
    *("https://box.example", "https://box.example/", "https://box.example:443"),
    *("https://box.example:8443", "http://127.0.0.1:80", "http://127.9.8.7:1"),
    *("http://localhost:8080", "http://[::1]:99", "https://[::1]", "https://x"),
]
ODD = [
    *("", "box", "ftp://x", "http://box.example", "http://127.0.0.1.evil:1"),
    *("https://user@box", "https://box/path", "https://box?x", "https://box#x"),
    *("https://box:", "https://box:0", "https://box:65536", "https://box:99999999"),
    *("https://:1", "https://BOX.example", "https://[fe80::1]", "https://b\u00f6x"),
    *(
        "http://127.0.0.256",
        "http://127.1",
        "https://box:+1",
        "http://127.0.0.1:\u0661",
    ),
    *("https://box:0443", "http://127.0.0.01"),
]


@pytest.mark.parametrize("url", URLS)
def test_an_address_is_read_as_the_ordinary_way_reads_it(url: str) -> None:
    door, address = first_relay_messages.endpoint_at(url), relay_address(url)

    assert door is not None
    assert (door.name, door.host) == (address.name, address.host)
    assert door.is_tls is (address.scheme == "https")
    near = is_loopback(address.host) or address.host == "localhost"
    assert first_relay_messages.is_near(door) is near


@pytest.mark.parametrize("url", ODD)
def test_an_unusual_address_is_left(url: str) -> None:
    assert first_relay_messages.endpoint_at(url) is None


@given(st.from_regex(r"https?://[a-z0-9.:\[\]-]{0,20}(:[0-9]{0,6})?/?", fullmatch=True))
def test_no_address_is_read_otherwise(url: str) -> None:
    door = first_relay_messages.endpoint_at(url)
    if door is None:
        return
    try:
        address = relay_address(url)
    except HoldfastError:
        pytest.fail(url)
    assert (door.name, door.host) == (address.name, address.host)
