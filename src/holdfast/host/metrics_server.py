"""Serves this machine's metrics by HTTP, on loopback, to Prometheus and its like.

One request per connection, `GET /metrics`. The name in the request's Host must be ours,
and there must be no foreign Origin: a web page that points its own name at loopback
learns nothing. Whoever is on this machine may read the numbers; they name nobody.

A collection that kept a processor busy for a while is not repeated for SHARE times as
long; until then the last one is served. So metrics cost at most one part in SHARE of a
processor, however often they are asked for.
"""

import asyncio
import contextlib
import signal
import socket
import time

from holdfast.aio.log import log
from holdfast.core.relay.web_origin import Asked, OriginCheck
from holdfast.core.telemetry.exposition import CONTENT_TYPE
from holdfast.host.metrics import collect
from holdfast.model.errors import HoldfastError, MalformedArgument

SHARE = 100
"""The processor's time for each part of it that metrics may take."""

FRESH = 1.0
"""Seconds for which a collection is served again, however cheap it was."""

MAX_HEAD = 8 * 1024
"""Bytes of a request: Prometheus sends a few hundred."""

MAX_CONNECTIONS = 16
PATIENCE = 5.0
"""Seconds for a request to come, and for its answer to be taken."""

_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    503: "Service Unavailable",
}


class MetricsServer:
    """The process that serves metrics."""

    def __init__(self, address: str, port: int) -> None:
        self._address, self._port = address, port
        bracketed = f"[{address}]" if ":" in address else address
        names = [f"{name}:{port}" for name in (bracketed, "localhost")]
        self._origins = OriginCheck(names, "http")
        self._open = 0
        self._text = b""
        self._next_at = 0.0
        self._collecting = asyncio.Lock()
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Serve until a signal comes.

        Raises:
            UsageError: The address cannot be listened at.

        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._ended.set)
        family = socket.AF_INET6 if ":" in self._address else socket.AF_INET
        try:
            server = await asyncio.start_server(
                self._serve, self._address, self._port, family=family, limit=MAX_HEAD
            )
        except OSError as error:
            where = f"{self._address}:{self._port}"
            raise MalformedArgument(where, f"free to listen at: {error}") from error
        log("metrics.started", address=self._address, port=self._port)
        async with server:
            await self._ended.wait()
        log("metrics.ended")

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._open += 1
        try:
            async with asyncio.timeout(PATIENCE):
                if self._open <= MAX_CONNECTIONS:
                    writer.write(await self._answer(reader))
                    await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open -= 1
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _response(400)
        request = _parsed(head)
        if request is None:
            return _response(400)
        method, asked = request
        if self._origins.objection(asked, wants_websocket=False):
            return _response(403)
        if asked.target != "/metrics":
            return _response(404)
        if method != "GET":
            return _response(405)
        return await self._metrics()

    async def _metrics(self) -> bytes:
        async with self._collecting:
            if time.monotonic() >= self._next_at:
                try:
                    found = await asyncio.to_thread(collect)
                except (HoldfastError, OSError) as error:
                    log("metrics.failed", why=str(error))
                    return _response(503)
                self._text = found.text().encode()
                rest = max(FRESH, SHARE * found.seconds)
                self._next_at = time.monotonic() + rest
        return _response(200, self._text)


def _parsed(head: bytes) -> tuple[str, Asked] | None:
    """Return the method of a request and what it asks for; None if it is none."""
    try:
        first, *lines = head.decode("ascii").split("\r\n")[:-2]
        method, target, version = first.split(" ")
        pairs = [line.split(":", 1) for line in lines]
        headers = [(name.lower(), value.strip()) for name, value in pairs]
    except ValueError:
        return None
    return (method, Asked(target, headers)) if version.startswith("HTTP/1.") else None


def _response(status: int, body: bytes = b"") -> bytes:
    headers = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "Connection: close",
        f"Content-Length: {len(body)}",
        f"Content-Type: {CONTENT_TYPE}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
    ]
    return "\r\n".join([*headers, "", ""]).encode() + body


def serve(address: str, port: int) -> None:
    """Serve metrics until a signal comes.

    Raises:
        UsageError: The address cannot be listened at.

    """

    async def run() -> None:
        await MetricsServer(address, port).run()

    asyncio.run(run())
