"""One connection to the relay, and how two of them are joined.

The bytes of WebSocket are read and written by the library's protocol object,
which does no I/O; reading, writing, waiting and hanging up are here, without a
task for each connection. Once two legs are joined, what comes in on the one is
written to the other at once, and copied nowhere in between. If the other end
does not keep up, its leg's buffer fills and we stop reading from the first:
between two ends there is never more than HIGH_WATER and one read, in each
direction. An end that reads nothing for long is disconnected (`is_stuck`).
"""

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from holdfast.core.relay.peer_joins import Link
from holdfast.relay.caller import Caller
from holdfast.wire.relay_messages import MAX_MESSAGE, Role

if TYPE_CHECKING:
    from holdfast.core.relay.unproven_connections import Place

UNPROVEN_BYTES = 4096
"""Bytes read from a peer that has not identified itself (T41)."""

UNPROVEN_SECONDS = 10.0
"""How long they may take for it (T41)."""

HIGH_WATER = 128 * 1024
"""Bytes that wait for an end before its counterpart is read no further."""

LOW_WATER = 32 * 1024
"""Bytes at which reading goes on."""

HARD_LIMIT = HIGH_WATER + 512 * 1024
"""Bytes at which an end is hung up on that makes us answer and reads nothing."""

CLOSE_SECONDS = 5.0
"""How long an end has to take leave before it is cut."""

_CODE = re.compile("[a-z][a-z-]{0,63}")

# Of what the library has to say about connections, nothing is for a log: it
# would quote what strangers sent.
_SILENT = logging.getLogger("holdfast.relay.websocket")
_SILENT.disabled = True


class LegEvents(Protocol):
    """What a leg reports to."""

    def asked_for(self, leg: "Leg", request: Request) -> Response | None:
        """Return what to answer, or None to go on with WebSocket."""
        ...

    def opened(self, leg: "Leg") -> None:
        """Hear that a leg speaks WebSocket now."""
        ...

    def heard(self, leg: "Leg", message: bytes) -> None:
        """Hear a message on a leg that is not joined."""
        ...

    def left(self, leg: "Leg") -> None:
        """Hear, once, that nothing more will come from a leg."""
        ...

    def gone(self, leg: "Leg") -> None:
        """Note that a connection is gone."""
        ...


class Leg(asyncio.Protocol):
    """One connection."""

    def __init__(self, link: Link, events: LegEvents, caller: Caller) -> None:
        self.link = link
        self.address = caller.address
        self.source = caller.source
        self.role: Role | None = None
        self.name = ""
        self.nonce = b""
        self.place: Place | None = None
        self.is_proven = False
        self.partner: Leg | None = None
        self.passed_on = 0
        self.heard_at = 0.0
        self.pinged_at = 0.0
        self.stuck_at: float | None = None
        self.is_held = False
        self._events = events
        self._loop = asyncio.get_running_loop()
        self._talk = ServerProtocol(max_size=MAX_MESSAGE, logger=_SILENT)
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._unproven_bytes = 0
        self._deadline = self._loop.call_later(UNPROVEN_SECONDS, self.abort)
        self._has_left = False
        self._reason = ""

    # ── what the peers does with a leg ────────────────────────────────────

    def prove(self) -> None:
        """Note that its other end has said who it is, and lift the limits."""
        self.is_proven = True
        self._deadline.cancel()

    def send(self, message: bytes) -> None:
        """Send one message, unless it is too late for that."""
        if self._talk.state is OPEN:
            self._talk.send_binary(message)
            self._flush()

    def ping(self, now: float) -> None:
        """Make the other end show that it is there."""
        self.pinged_at = now
        if self._talk.state is OPEN:
            self._talk.send_ping(b"")
            self._flush()

    def join(self, partner: "Leg") -> None:
        """From now on pass everything on to `partner`."""
        self.partner = partner

    def close(self, code: int, reason: str) -> None:
        """Take leave, once what waits is sent; cut it if that takes too long."""
        self._reason = self._reason or reason
        self._leave()
        if self._talk.state is OPEN:
            self._talk.send_close(code, reason)
            self._flush()
        self.release()  # Else its own farewell would never be read.
        self._hurry()

    def abort(self) -> None:
        """Cut it now."""
        self._leave()
        if self._transport is not None:
            self._transport.abort()
        else:
            self._deadline.cancel()
            self._events.gone(self)

    def farewell(self) -> str:
        """Return the code that we, or else its other end, gave for its end."""
        if self._reason:
            return self._reason
        told = self._talk.close_rcvd
        return told.reason if told and _CODE.fullmatch(told.reason) else ""

    def hold(self) -> None:
        """Read no more until `release`."""
        if self.is_held or self._transport is None:
            return
        if not self._transport.is_closing():
            self.is_held = True
            self._transport.pause_reading()

    def release(self) -> None:
        """Read on."""
        if self.is_held and self._transport is not None:
            self.is_held = False
            self.heard_at = self._loop.time()
            if not self._transport.is_closing():
                self._transport.resume_reading()

    # ── what the loop does with it ────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(HIGH_WATER, LOW_WATER)
        self.heard_at = self._loop.time()

    def data_received(self, data: bytes) -> None:
        """Take what came, and pass it on or understand it."""
        self.heard_at = self._loop.time()
        if not self.is_proven:
            self._unproven_bytes += len(data)
            if self._unproven_bytes > UNPROVEN_BYTES:
                self.abort()
                return
        self._talk.receive_data(data)
        partner = self.partner
        # What came before a farewell is passed on before it: so the events come
        # first, and then what the protocol has to answer.
        for event in self._talk.events_received():
            if isinstance(event, Request):
                self._answer(event)
            elif isinstance(event, Frame):
                self._take(event)
        if partner is not None:
            partner.flush_passed_on()
        self._flush()

    def eof_received(self) -> None:
        """Close the link of a peer that hung up."""
        self._talk.receive_eof()
        self._flush()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  # as the loop calls it
        """Be gone."""
        self._deadline.cancel()
        self._talk.receive_eof()
        self._leave()
        self._events.gone(self)

    def pause_writing(self) -> None:
        """Stop reading what would be written here."""
        self.stuck_at = self._loop.time()
        if self.partner is not None:
            self.partner.hold()

    def resume_writing(self) -> None:
        """Go on reading what is written here."""
        self.stuck_at = None
        if self.partner is not None:
            self.partner.release()

    # ── inside ────────────────────────────────────────────────────────────

    def _answer(self, request: Request) -> None:
        response = self._events.asked_for(self, request)
        if response is None:
            response = self._talk.accept(request)
            response.headers.pop("Date", None)
        self._talk.send_response(response)
        self._flush()
        if self._talk.state is OPEN:
            self._events.opened(self)
        else:
            self._leave()
            self._hurry()

    def _take(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.BINARY | Opcode.CONT:
                if self._has_left:
                    return
                if self.partner is None:
                    self._gather(frame)
                else:
                    self.passed_on += len(frame.data)
                    self.partner.pass_on(frame)
            case Opcode.TEXT:
                self.close(1003, "unexpected-message")
            case Opcode.CLOSE:
                self._leave()
                self._hurry()
            case _:
                pass

    def pass_on(self, frame: Frame) -> None:
        """Write a frame of the partner's, with the next `flush_passed_on`."""
        if self._talk.state is not OPEN:
            return
        if frame.opcode is Opcode.CONT:
            self._talk.send_continuation(frame.data, frame.fin)
        else:
            self._talk.send_binary(frame.data, frame.fin)

    def flush_passed_on(self) -> None:
        """Write what was passed on, all at once."""
        self._flush()

    def _gather(self, frame: Frame) -> None:
        if frame.data:  # Empty ones could come without end.
            self._parts.append(bytes(frame.data))
        if frame.fin:
            message, self._parts = b"".join(self._parts), []
            self._events.heard(self, message)

    def _flush(self) -> None:
        if self._transport is None or self._transport.is_closing():
            self._talk.data_to_send()
            return
        pieces = self._talk.data_to_send()
        is_over = bool(pieces) and not pieces[-1]
        if is_over:
            pieces.pop()
        if len(pieces) == 1:
            self._transport.write(pieces[0])
        elif pieces:
            self._transport.writelines(pieces)
        if is_over:
            self._end_writing(self._transport)
        if self._talk.close_expected():
            self._leave()
            self._hurry()
        if self._transport.get_write_buffer_size() > HARD_LIMIT:
            self.abort()

    def _end_writing(self, transport: asyncio.Transport) -> None:
        if transport.can_write_eof():
            try:
                transport.write_eof()
            except (OSError, RuntimeError):  # It was faster in going away.
                transport.abort()
        else:
            transport.close()

    def _leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self._events.left(self)

    def _hurry(self) -> None:
        """Make sure that it ends: a peer that closes slowly is cut."""
        self._deadline.cancel()
        self._deadline = self._loop.call_later(CLOSE_SECONDS, self._cut)

    def _cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()
