"""How does a holder have its session painted?

Theory of operation
-------------------
The painter is started with the first request, and again with the first one
after it died. It is given one socket and nothing else. Each request has a
deadline; a painter that misses it is killed, for an answer that comes later
would be taken for the answer to something else.

What was painted dies with the painter. Whoever gets PainterDied or
ScreenForgotten begins anew, from the window: `holdfast.painter.repainting`.

No event loop and no thread: every call waits, at most for the deadline.
"""

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from holdfast.model.errors import (
    HoldfastError,
    MalformedMessage,
    PainterDied,
    PeerError,
    from_facts,
)
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.text import printable
from holdfast.painter.packets import MAX_DATA, MAX_PACKET, READY, Packet
from holdfast.term.queries import QueryKind
from holdfast.term.screen import Screen

PROGRAM = (sys.executable, "-I", "-m", "holdfast.painter.main")

REQUEST_TIMEOUT = 5.0
"""Longer than the painter's own limit of CPU, so that mostly it ends by itself."""

START_TIMEOUT = 15.0
"""A loaded machine takes seconds to start an interpreter."""

MAX_ANSWER = 32 * 1024 * 1024
"""Longest answer collected: the largest screen, each cell in another colour."""


_LAST_MOMENTS = 0.05
"""Seconds for a painter to end by itself: then its status says why."""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """Bytes that make a new terminal of `size` show the stream up to `offset`."""

    offset: int
    size: Size
    data: bytes


class Painter:
    """A painter process, started when needed. Close it, or use it in `with`."""

    def __init__(
        self,
        *,
        program: Sequence[str] = PROGRAM,
        request_timeout: float = REQUEST_TIMEOUT,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        self._program = tuple(program)
        self._request_timeout = request_timeout
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Return the process that runs, as far as is known, or None."""
        return self._process.pid if self._process else None

    def reset(
        self, session: SessionId, size: Size, offset: int = 0, keyframe: bytes = b""
    ) -> None:
        """Begin to paint a session at `offset`, over a keyframe if there is one.

        Raises:
            Unavailable: The painter died.

        """
        measures = [size.columns, size.rows]
        self._ask(
            {"do": "reset", "session": session, "size": measures, "at": offset},
            keyframe[:MAX_DATA],
        )
        for start in range(MAX_DATA, len(keyframe), MAX_DATA):
            part = keyframe[start : start + MAX_DATA]
            self._ask({"do": "draw", "session": session}, part)

    def feed(self, session: SessionId, offset: int, data: bytes) -> int:
        """Paint output that begins at `offset`; return how far it is painted now.

        What was painted before is passed over. The deadline is for each MAX_DATA
        bytes; feed no more at once than you can wait for.

        Raises:
            UsageError: There is a gap between what is painted and `offset`.
            Unavailable: The painter died, or does not paint this session.

        """
        end = offset
        for start in range(0, len(data), MAX_DATA) or [0]:
            part = data[start : start + MAX_DATA]
            request = {"do": "feed", "session": session, "at": offset + start}
            end = self._ask(request, part).number("at")
        return end

    def skip(self, session: SessionId, offset: int) -> None:
        """Go on at a later offset, as if nothing had been printed in between.

        Raises:
            Unavailable: The painter died, or does not paint this session.

        """
        self._ask({"do": "skip", "session": session, "at": offset})

    def resize(self, session: SessionId, size: Size) -> None:
        """Take note that the session has another size from here on.

        Raises:
            Unavailable: The painter died, or does not paint this session.

        """
        measures = [size.columns, size.rows]
        self._ask({"do": "resize", "session": session, "size": measures})

    def keyframe(self, session: SessionId) -> Keyframe:
        """Return what makes a new terminal show the same.

        Raises:
            Unavailable: The painter died, or does not paint this session.

        """
        answer = self._ask({"do": "keyframe", "session": session})
        columns, rows = answer.pair("size")
        return Keyframe(answer.number("at"), Size(columns, rows), answer.data)

    def screen(self, session: SessionId) -> Screen:
        """Return what is to be seen.

        Raises:
            Unavailable: The painter died, or does not paint this session.

        """
        answer = self._ask({"do": "screen", "session": session})
        try:
            return Screen.from_object(json.loads(answer.data))
        except (ValueError, RecursionError, PeerError) as error:
            raise self._buried("its screen is none") from error

    def answer(self, session: SessionId, kind: QueryKind) -> bytes:
        """Return what the program reads as the answer to a query for the cursor.

        Empty for any other query.

        Raises:
            Unavailable: The painter died, or does not paint this session.

        """
        request = {"do": "answer", "session": session, "query": kind.name}
        return self._ask(request).data

    def drop(self, session: SessionId) -> None:
        """Forget a session, painted or not. No painter is started for that.

        Raises:
            Unavailable: The painter died, and has forgotten it for good.

        """
        if self._process is not None:
            self._ask({"do": "drop", "session": session})

    def close(self) -> None:
        """End the painter, if there is one. A later request starts another."""
        if self._process is not None:
            self._bury()

    def _ask(self, request: Mapping[str, object], data: bytes = b"") -> Packet:
        link = self._link or self._start()
        deadline = time.monotonic() + self._request_timeout
        try:
            link.settimeout(self._request_timeout)
            link.send(Packet(request, data).to_bytes())
            answer = _collected(link, deadline)
            refusal = _refusal(answer)
        except TimeoutError:
            raise self._buried(f"no answer in {self._request_timeout:g} s") from None
        except (OSError, PeerError) as error:
            raise self._buried(str(error)) from None
        if refusal is not None:
            raise refusal
        return answer

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603  # our own program
                    self._program,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise PainterDied(f"it cannot be started: {error.strerror}") from error
        self._link = ours
        try:
            ready = _received(ours, time.monotonic() + self._start_timeout)
        except TimeoutError:
            raise self._buried(f"not ready in {self._start_timeout:g} s") from None
        except (OSError, PeerError) as error:
            raise self._buried(str(error)) from None
        if READY not in ready.header:
            raise self._buried("it did not say that it is ready")
        return ours

    def _buried(self, why: str) -> PainterDied:
        status = self._bury()
        return PainterDied(f"{printable(why)} (exit status {status})")

    def _bury(self) -> int:
        """End what is left of the painter, and return its exit status."""
        assert self._process is not None, "there is no painter to bury"  # noqa: S101
        assert self._link is not None, "a painter always has its socket"  # noqa: S101
        self._link.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_MOMENTS)
        self._process.kill()
        status = self._process.wait()
        self._process = self._link = None
        return status


def _received(link: socket.socket, deadline: float) -> Packet:
    left = deadline - time.monotonic()
    if left <= 0:
        # A socket that always has something to read never times out by itself.
        raise TimeoutError
    link.settimeout(left)
    raw = link.recv(MAX_PACKET + 1)
    if not raw:
        raise ConnectionResetError("it closed its socket")
    return Packet.from_bytes(raw)


def _collected(link: socket.socket, deadline: float) -> Packet:
    packet = _received(link, deadline)
    parts = [packet.data]
    length = len(packet.data)
    while packet.header.get("more") is True:
        packet = _received(link, deadline)
        parts.append(packet.data)
        length += len(packet.data)
        if length > MAX_ANSWER:
            raise MalformedMessage("packet", "the answer is too long")
    return Packet(packet.header, b"".join(parts))


def _refusal(answer: Packet) -> HoldfastError | None:
    """Return the error that an answer describes, or None if it is one of success.

    Raises:
        PeerError: It is neither.

    """
    if answer.header.get("ok") is True:
        answer.number("at")
        answer.pair("size")
        return None
    facts = answer.header.get("facts")
    if not isinstance(facts, dict):
        raise MalformedMessage("packet", "an error has no facts")
    return from_facts(answer.text("code"), facts, printable(answer.text("text")))
