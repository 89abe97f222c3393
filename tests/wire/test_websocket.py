"""I1 to I3 of websocket, held against the library that relays and hosts use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from holdfast.wire import websocket
from holdfast.wire.websocket import (
    BINARY,
    CLOSE,
    MAX_MESSAGE,
    PING,
    PONG,
    MessageReader,
    NotWebSocket,
)

KEY = bytes(range(16))
MASK = b"\x01\x80\xff\x00"


def server() -> ServerProtocol:
    """Return a server that was asked, and has not answered yet."""
    made = ServerProtocol(max_size=None)
    made.receive_data(websocket.request("box.example:8443", "/v1/operator", KEY))
    return made


def answer() -> bytes:
    made = server()
    (request,) = made.events_received()
    assert isinstance(request, Request)
    made.send_response(made.accept(request))
    return b"".join(made.data_to_send())


def messages(*pieces: bytes) -> list[tuple[int, bytes]]:
    reader = MessageReader()
    return [one for piece in pieces for one in reader.feed(piece)]


def test_a_server_understands_the_request() -> None:
    (request,) = server().events_received()

    assert isinstance(request, Request)
    assert (request.path, request.headers["Host"]) == (
        "/v1/operator",
        "box.example:8443",
    )
    assert "Origin" not in request.headers


def test_i2_an_answer_is_taken_however_it_was_cut() -> None:
    raw = answer()
    for end in range(len(raw)):
        assert not websocket.is_accepted(bytearray(raw[:end]), KEY)
    held = bytearray(raw + b"more")

    assert websocket.is_accepted(held, KEY)
    assert held == b"more"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"101", b"200"),
        (b"HTTP/1.1", b"HTTP/1.0"),
        (b"Upgrade: websocket", b"Upgrade: other"),
        (b"Connection: Upgrade", b"Connection: close"),
        (b"Sec-WebSocket-Accept: ", b"Sec-WebSocket-Accept: x"),
        (b"Sec-WebSocket-Accept", b"Sec-WebSocket-Extensions: x\r\nIgnored"),
        (b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: x\r\n\r\n"),
        (b"\r\n\r\n", b"\r\nsec-websocket-protocol: x\r\n\r\n"),
    ],
)
def test_an_answer_to_something_else_is_refused(old: bytes, new: bytes) -> None:
    raw = answer()
    assert old in raw

    with pytest.raises(NotWebSocket):
        websocket.is_accepted(bytearray(raw.replace(old, new)), KEY)
    with pytest.raises(NotWebSocket):
        websocket.is_accepted(bytearray(raw), bytes(16))


def test_i1_garbage_is_refused_at_once_and_a_head_without_end_before_long() -> None:
    for raw in (b"S", b"SSH-2.0-OpenSSH", b"HTTP/1.1 404 "):
        with pytest.raises(NotWebSocket):
            websocket.is_accepted(bytearray(raw), KEY)
    endless = b"HTTP/1.1 101 " + b"x" * websocket.MAX_HEAD
    with pytest.raises(NotWebSocket, match="does not end"):
        websocket.is_accepted(bytearray(endless), KEY)


@given(
    st.binary(max_size=200) | st.sampled_from([b"x" * 126, b"y" * 65_535]),
    st.binary(min_size=4, max_size=4),
)
def test_a_server_reads_what_we_write(payload: bytes, mask: bytes) -> None:
    made = server()
    (request,) = made.events_received()
    assert isinstance(request, Request)
    made.send_response(made.accept(request))
    made.receive_data(websocket.frame(BINARY, payload, mask))

    assert made.events_received() == [Frame(Opcode.BINARY, payload)]


def test_leave_is_taken_with_a_reason() -> None:
    made = server()
    (request,) = made.events_received()
    assert isinstance(request, Request)
    made.send_response(made.accept(request))
    made.receive_data(websocket.close_frame(MASK, "revoked"))

    assert made.close_rcvd is not None
    assert (made.close_rcvd.code, made.close_rcvd.reason) == (1000, "revoked")
    raw = Frame(Opcode.CLOSE, b"\x0f\xa0revok\xff").serialize(mask=False)
    ((opcode, payload),) = messages(raw)
    assert opcode == CLOSE
    assert websocket.reason_in(payload) == "revok\ufffd"
    assert websocket.reason_in(b"") == ""


@given(st.lists(st.binary(max_size=300), max_size=5), st.data())
def test_i2_messages_come_out_however_they_were_cut(
    sent: list[bytes], data: st.DataObject
) -> None:
    raw = b"".join(Frame(Opcode.BINARY, one).serialize(mask=False) for one in sent)
    size = data.draw(st.integers(1, 40))
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]

    assert messages(*pieces) == [(BINARY, one) for one in sent]


@pytest.mark.parametrize("size", [9, 200, MAX_MESSAGE])
def test_i2_a_message_is_waited_for_wherever_it_was_cut(size: int) -> None:
    sent = b"x" * size
    raw = Frame(Opcode.BINARY, sent).serialize(mask=False)

    for cut in range(min(len(raw), 12)):
        assert messages(raw[:cut]) == []
        assert messages(raw[:cut], raw[cut:]) == [(BINARY, sent)]


def test_i2_a_message_in_parts_is_one_and_a_ping_comes_between() -> None:
    raw = b"".join(
        one.serialize(mask=False)
        for one in (
            Frame(Opcode.BINARY, b"a" * 200, fin=False),
            Frame(Opcode.PING, b"there?"),
            Frame(Opcode.CONT, b"", fin=False),
            Frame(Opcode.CONT, b"b" * 70_00),
            Frame(Opcode.PONG, b""),
            Frame(Opcode.BINARY, b""),
        )
    )

    assert messages(raw) == [
        (PING, b"there?"),
        (BINARY, b"a" * 200 + b"b" * 7000),
        (PONG, b""),
        (BINARY, b""),
    ]


@pytest.mark.parametrize(
    "head",
    [
        b"\x81\x05",  # a text
        b"\x82\x80",  # masked
        b"\xc2\x05",  # compressed
        b"\x80\x05",  # goes on with nothing
        b"\x83\x05",
        b"\x8b\x00",
        b"\x09\x00",  # a ping in parts
        b"\x89\x7e",  # a long ping
        b"\x82\x7f" + (MAX_MESSAGE + 1).to_bytes(8),
        b"\x82\x7f" + b"\xff" * 8,
        b"\x02\x01a\x82\x01b",  # begins amid another
        b"\x02\x01a\x80\x7e\xff\xff",  # too long with what came before
    ],
)
def test_i1_what_no_relay_sends_is_refused_on_its_head(head: bytes) -> None:
    with pytest.raises(NotWebSocket):
        messages(head)


def test_the_longest_message_is_taken_and_empty_parts_do_not_go_on_for_ever() -> None:
    longest = b"x" * MAX_MESSAGE
    raw = Frame(Opcode.BINARY, longest).serialize(mask=False)
    assert messages(raw) == [(BINARY, longest)]

    with pytest.raises(NotWebSocket):
        messages(b"\x02\x00" + b"\x00\x00" * MAX_MESSAGE + b"\x00\x01x")


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_i3_whatever_the_bytes_there_are_messages_or_a_refusal(
    pieces: list[bytes],
) -> None:
    try:
        found = messages(*pieces)
    except NotWebSocket:
        return
    assert all(opcode in (BINARY, CLOSE, PING, PONG) for opcode, _ in found)
