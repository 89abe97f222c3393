"""The first answer to an HTTP request, before anything else is trusted.

Three paths speak WebSocket; two report the relay's health and numbers; the rest is the
web page, if there is one. The page's files are read when the relay starts, so no
name in a request ever reaches the file system.
"""

import gzip
import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from holdfast.core.relay.unproven_connections import is_loopback
from holdfast.core.relay.web_origin import Asked, OriginCheck
from holdfast.core.telemetry.exposition import CONTENT_TYPE
from holdfast.model.errors import MalformedArgument
from holdfast.wire.relay_messages import Role

PATHS = {
    "/v1/host": Role.HOST,
    "/v1/meet": Role.MEET,
    "/v1/operator": Role.OPERATOR,
}
"""Where each kind of peer dials."""

MAX_WEB_BYTES = 32 * 1024 * 1024
"""Of all files of the web page together: they are kept in memory."""

MAX_WEB_FILES = 500

PAGES = ("/", "/j")
"""Paths that show the page itself; what follows a # never reaches us."""

SAFETY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src"
    " 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self';"
    " manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script';"
    " trusted-types holdfast",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every answer: no framing, sniffing, caching or referrer (T56)."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of the web page."""

    kind: str
    body: bytes
    packed: bytes
    """The same in less room, for browsers, which all take that."""


def read_web(folder: Path) -> dict[str, File]:
    """Read the web page's files, by the path each is asked for under.

    Raises:
        UsageError: There is no page, or there is too much of it.

    """
    found: dict[str, File] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        total += path.stat().st_size
        if total > MAX_WEB_BYTES or len(found) >= MAX_WEB_FILES:
            raise MalformedArgument(str(folder), "a folder with less in it")
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        body = path.read_bytes()
        file = File(kind, body, gzip.compress(body, mtime=0))
        found[f"/{path.relative_to(folder).as_posix()}"] = file
    if "/index.html" not in found:
        raise MalformedArgument(str(folder), "a folder with an index.html")
    return found


class HttpFront:
    """The relay's HTTP answers."""

    def __init__(
        self,
        origin_check: OriginCheck,
        web: Mapping[str, File],
        metrics: Callable[[], str],
        *,
        has_open_metrics: bool,
    ) -> None:
        self._origin_check = origin_check
        self._web = web
        self._metrics = metrics
        self._has_open_metrics = has_open_metrics

    def answer(self, request: Request, address: str) -> tuple[Response, str] | Role:
        """Return what to answer and why it is a refusal, or the role that dials."""
        headers = [(name.lower(), value) for name, value in request.headers.raw_items()]
        asked = Asked(request.path, headers)
        role = PATHS.get(request.path)
        why = self._origin_check.objection(asked, wants_websocket=role is not None)
        if why == "query":
            return refused(HTTPStatus.BAD_REQUEST), why
        if why:
            return refused(HTTPStatus.FORBIDDEN), why
        if request.method != "GET":
            return refused(HTTPStatus.METHOD_NOT_ALLOWED), "method"
        if role is not None:
            return role
        takes_gzip = any("gzip" in one for one in asked.values("accept-encoding"))
        return self._show(request.path, address, takes_gzip=takes_gzip)

    def _show(
        self, path: str, address: str, *, takes_gzip: bool
    ) -> tuple[Response, str]:
        if path == "/healthz":
            return response(HTTPStatus.OK, "text/plain", b"ok\n"), ""
        if path == "/metrics":
            if not (self._has_open_metrics or is_loopback(address)):
                return refused(HTTPStatus.FORBIDDEN), "metrics"
            return response(HTTPStatus.OK, CONTENT_TYPE, self._metrics().encode()), ""
        file = self._web.get("/index.html" if path in PAGES else path)
        if file is None:
            return refused(HTTPStatus.NOT_FOUND), "path"
        if takes_gzip and len(file.packed) < len(file.body):
            return packed_response(file), ""
        return response(HTTPStatus.OK, file.kind, file.body), ""


def refused(status: HTTPStatus) -> Response:
    """Return a refusal, smaller than what it answers (T42)."""
    headers = Headers([("Connection", "close"), ("Content-Length", "0")])
    return Response(status.value, status.phrase, headers)


def response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    """Return an answer with a body, and everything that keeps browsers safe."""
    headers = Headers(
        [
            ("Connection", "close"),
            ("Content-Length", str(len(body))),
            ("Content-Type", kind),
            *SAFETY.items(),
        ]
    )
    return Response(status.value, status.phrase, headers, body)


def packed_response(file: File) -> Response:
    """Return an answer with a compressed file."""
    made = response(HTTPStatus.OK, file.kind, file.packed)
    made.headers["Content-Encoding"] = "gzip"
    return made
