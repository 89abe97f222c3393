import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.scenarios.relays import (
    ANNA,
    HOST_ID,
    Relay,
    echoing,
    frame,
    greeted,
    reached,
    read_all,
    refusal,
    relay,
    run,
    wait_for,
)
from websockets.exceptions import ConnectionClosed

from holdfast.model.errors import MalformedMessage, RelayFull, UnexpectedMessage
from holdfast.wire import relay_messages as wire
from holdfast.wire.relay_messages import Role

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def point(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with relay(tmp_path_factory.mktemp("relay")) as made:
        yield made


@pytest.fixture(autouse=True)
def serves_as_before(point: Relay) -> Iterator[None]:
    yield
    wait_for(lambda: point.metrics().get("unproven", 2) <= 1)

    async def story() -> None:
        async with echoing(point):
            carrier = await reached(point)
            await carrier.send(b"as before")
            assert await carrier.receive() == b"as before"
            await carrier.close()

    run(story())


def memory(relay: Relay) -> int:
    pages = Path(f"/proc/{relay.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_t41_a_stranger_gets_ten_seconds(point: Relay) -> None:
    began = time.monotonic()
    with (
        point.dial() as silent,
        point.upgrade("/v1/operator") as greeted_only,
        point.dial() as slow,
    ):
        for letter in b"GET / HTTP/1.1\r\nHost":
            slow.sendall(bytes([letter]))
        for link in (silent, greeted_only, slow):
            assert read_all(link) == b""

    assert 9 < time.monotonic() - began < 19


@pytest.mark.parametrize(
    "data",
    [
        b"GET /" + b"a" * 65_536 + b" HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * MEBIBYTE,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000,
        b"\0" * MEBIBYTE,
        b"\x16\x03\x01" + b"\xff" * MEBIBYTE,
    ],
    ids=["path", "header", "headers", "zeros", "tls"],
)
def test_t41_a_stranger_gets_four_kilobytes(point: Relay, data: bytes) -> None:
    before = memory(point)

    answer = point.sent(data)

    assert len(answer) < 300
    assert memory(point) - before < MEBIBYTE


def test_t41_no_request_of_more_than_four_kilobytes_is_answered(point: Relay) -> None:
    header = "X: " + "y" * 90

    assert b"200 OK" in point.get("/healthz", *[header] * 40)
    assert b"200 OK" not in point.get("/healthz", *[header] * 45)


def test_t41_what_a_stranger_says_after_the_upgrade_counts_too(point: Relay) -> None:
    with point.upgrade("/v1/host") as link:
        with contextlib.suppress(OSError):
            link.sendall(frame(b"x" * 60_000))
        assert len(read_all(link)) < 300


def test_t41_strangers_are_counted_in_all_and_by_address(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder, option in (
        ("a", "--max-unproven"),
        ("b", "--max-unproven-per-address"),
    ):
        with relay(tmp_path / folder, option, "8") as crowded:
            inside = [crowded.dial() for _ in range(8)]
            try:
                wait_for(partial(_is_hung_up_on, crowded))
                assert all(_is_open(link) for link in inside)
            finally:
                for link in inside:
                    link.close()
            wait_for(partial(_is_well, crowded))
            assert crowded.metrics()["turned_away_total"] >= 1


def test_t41_a_flood_of_connections_leaves_others_alone(point: Relay) -> None:
    before = memory(point)
    for _ in range(40):
        links = [point.dial() for _ in range(50)]
        for link in links:
            link.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            link.close()

    assert memory(point) - before < 8 * MEBIBYTE


def test_t42_no_reply_to_a_stranger_is_larger_than_its_request(point: Relay) -> None:
    usual = "User-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n"
    for request in (
        point.upgrade_request("/v1/operator", "User-Agent: some program/1.0"),
        f"GET /none HTTP/1.1\r\nHost: {point.name}\r\n{usual}".encode(),
        f"GET /v1/host HTTP/1.1\r\nHost: evil.test\r\n{usual}".encode(),
        f"GET /v1/host?token=1 HTTP/1.1\r\nHost: {point.name}\r\n{usual}".encode(),
    ):
        with point.dial() as link:
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            assert len(read_all(link)) <= len(request), request


BROKEN_FRAMES = {
    "text": frame(b"hello", 0x81),
    "unmasked": frame(b"hello", masked=False),
    "reserved bits": frame(b"hello", 0xF2),
    "unknown opcode": frame(b"hello", 0x83),
    "continuation of nothing": frame(b"hello", 0x80),
    "long ping": frame(b"p" * 126, 0x89),
    "fragmented ping": frame(b"p", 0x09),
    "close of one byte": frame(b"c", 0x88),
    "close with code 999": frame(b"\x03\xe7", 0x88),
    "close with bad text": frame(b"\x03\xe8\xff\xff", 0x88),
    "length beyond all": b"\x82\xff" + b"\xff" * 8,
    "no message": frame(b""),
    "no map": frame(b"\x90"),
    "deep": frame(b"\x91" * 900),
    "endless fragments": frame(b"", 0x02) + frame(b"", 0x00) * 500,
    "another's message": frame(wire.encode(wire.Leaving())),
}


@pytest.mark.parametrize("data", BROKEN_FRAMES.values(), ids=BROKEN_FRAMES.keys())
@pytest.mark.parametrize("path", ["/v1/host", "/v1/meet", "/v1/operator"])
def test_a_broken_frame_ends_the_link_with_a_code(
    point: Relay, path: str, data: bytes
) -> None:
    with point.upgrade(path) as link:
        link.sendall(data)
        if data.startswith(b"\x02"):
            link.shutdown(socket.SHUT_WR)  # Without an end there is nothing to say.
            assert read_all(link)[:1] in (b"", b"\x88")
            return
        heard = b""
        while b"\x88" not in heard:
            data = link.recv(4096)
            assert data, "it ended without a code"
            heard += data


def test_a_registered_host_that_sends_nonsense_is_sent_away(point: Relay) -> None:
    async def story() -> None:
        for nonsense, code in (
            (b"\xc0", MalformedMessage.code),
            (wire.encode(wire.Joined(HOST_ID)), UnexpectedMessage.code),
            (b"x" * 65_535, MalformedMessage.code),
        ):
            link, nonce = await greeted(point, "/v1/host")
            signature = ANNA.sign(wire.statement(Role.HOST, point.name, nonce))
            await link.send(wire.encode(wire.Register(ANNA.public, signature)))
            await link.recv()
            await link.send(nonsense)
            assert await refusal(link) == code

    run(story())


def test_a_registered_host_that_floods_its_own_link_is_sent_away(point: Relay) -> None:
    async def story() -> None:
        link, nonce = await greeted(point, "/v1/host")
        signature = ANNA.sign(wire.statement(Role.HOST, point.name, nonce))
        await link.send(wire.encode(wire.Register(ANNA.public, signature)))
        await link.recv()
        invites = tuple(number.to_bytes(32, "big") for number in range(800))
        said = wire.encode(wire.Dismiss((), invites))
        with contextlib.suppress(ConnectionClosed):
            for _ in range(200):
                await link.send(said)
        assert await refusal(link) == RelayFull.code

    run(story())


def test_nothing_is_compressed(point: Relay) -> None:
    with point.dial() as link:
        link.sendall(
            point.upgrade_request(
                "/v1/host", "Sec-WebSocket-Extensions: permessage-deflate"
            )
        )
        heard = link.recv(4096)

    assert b"101" in heard
    assert b"xtensions" not in heard


def test_a_peer_that_pings_and_never_reads_is_cut(point: Relay) -> None:
    before = memory(point)
    pings = frame(b"p" * 125, 0x89) * 1000

    with point.registered(ANNA) as link:
        wait_for(lambda: not _takes(link, pings))

    assert memory(point) - before < 8 * MEBIBYTE


def _takes(link: socket.socket, data: bytes) -> bool:
    link.settimeout(10)
    try:
        link.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def _is_well(relay: Relay) -> bool:
    return b"200" in relay.get("/healthz")


def _is_hung_up_on(relay: Relay) -> bool:
    with relay.dial() as link:
        link.settimeout(0.5)
        try:
            return link.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True


def _is_open(link: socket.socket) -> bool:
    link.settimeout(0)
    try:
        return link.recv(1) != b""
    except BlockingIOError:
        return True
