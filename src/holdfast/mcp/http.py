"""Serves clients over HTTP: only from this machine, and only with the token.

A web page can make a browser send requests to this machine. So Host must be exactly the
address we listen on, Origin must be absent, because no page is meant to talk to us, and
every request needs the token, in its own header and nowhere else: a stolen id of a
protocol session is worth nothing without it.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from holdfast.mcp.server import serving

PATH = "/mcp"

MAX_SESSIONS = 64
"""Connections of the protocol at a time."""

GRACE = 2
"""Seconds for running calls when we are told to stop."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_BEARER = b"Bearer "


class RequestGuard:
    """The check that every request passes first."""

    def __init__(self, app: App, hosts: tuple[str, ...], token: str) -> None:
        self._app = app
        self._hosts = tuple(host.encode() for host in hosts)
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        status = self._objection(scope)
        if status is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(send, status)

    def _objection(self, scope: Scope) -> int | None:
        """Return the status to refuse with, or None."""
        if scope["type"] != "http":
            return 403
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        host = [value for name, value in headers if name == b"host"]
        if len(host) != 1 or host[0] not in self._hosts:
            return 403
        if any(name == b"origin" for name, _ in headers):
            return 403
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) != 1 or not given[0].startswith(_BEARER):
            return 401
        said = given[0].removeprefix(_BEARER)
        return None if hmac.compare_digest(said, self._token) else 401


async def serve(operator: str, address: tuple[str, int], token: str) -> None:
    """Listen until a signal ends it."""
    host, port = address
    named = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    async with serving(operator) as server:
        app = server.protocol.streamable_http_app(
            streamable_http_path=PATH,
            max_sessions=MAX_SESSIONS,
            host=host,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=[named],
                allowed_origins=[],
            ),
        )
        config = uvicorn.Config(
            RequestGuard(app, (named,), token),
            host=host,
            port=port,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        await uvicorn.Server(config).serve()


async def _refuse(send: Send, status: int) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"0")]
    if status == 401:  # noqa: PLR2004  # the name of the status says no more
        headers.append((b"www-authenticate", b"Bearer"))
    start = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": b""})
