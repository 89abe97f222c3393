"""Who is let in by HTTP: the token's owner, at our own address, and no page."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from holdfast.mcp.http import Receive, RequestGuard, Scope, Send

HOST = (b"host", b"127.0.0.1:7448")
TOKEN = (b"authorization", b"Bearer secret")
Headers = list[tuple[bytes, bytes]]


def sent(kind: str, headers: Headers) -> tuple[bool, list[MutableMapping[str, Any]]]:
    """Send a request; return whether it got through, and what was answered."""
    through: list[Scope] = []
    said: list[MutableMapping[str, Any]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del receive, send
        through.append(scope)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    door = RequestGuard(app, ("127.0.0.1:7448",), "secret")
    asyncio.run(door({"type": kind, "headers": headers}, receive, send))
    return bool(through), said


def test_the_owner_of_the_token_is_let_in() -> None:
    assert sent("http", [HOST, TOKEN]) == (True, [])
    assert sent("http", [HOST, (b"accept", b"*/*"), TOKEN]) == (True, [])


def test_starting_and_ending_needs_no_token() -> None:
    assert sent("lifespan", []) == (True, [])


def test_nothing_but_http_gets_through() -> None:
    assert sent("websocket", [HOST, TOKEN]) == (False, [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([TOKEN], 403),
        ([(b"host", b"evil.example"), TOKEN], 403),
        ([HOST, HOST, TOKEN], 403),
        ([HOST, TOKEN, (b"origin", b"http://127.0.0.1:7448")], 403),
        ([HOST], 401),
        ([HOST, TOKEN, TOKEN], 401),
        ([HOST, (b"authorization", b"secret")], 401),
        ([HOST, (b"authorization", b"Bearer secre")], 401),
        ([HOST, (b"authorization", b"Bearer other")], 401),
        ([HOST, (b"x-token", b"Bearer secret")], 401),
    ],
)
def test_everybody_else_is_refused_and_told_nothing(
    headers: Headers, status: int
) -> None:
    is_through, said = sent("http", headers)

    assert not is_through
    start, body = said
    assert (start["type"], start["status"]) == ("http.response.start", status)
    assert ((b"www-authenticate", b"Bearer") in start["headers"]) is (status == 401)
    assert (b"content-length", b"0") in start["headers"]
    assert body == {"type": "http.response.body", "body": b""}
