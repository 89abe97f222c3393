"""The holder's link to the painter: does what `core.session.paint_requests` says.

Nothing here blocks. The painter may be slow, dead, or broken by its input; the session
does not notice.
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from socket import socket  # noqa: TC003  # an annotation people read

from holdfast.core.session import paint_requests
from holdfast.core.session.paint_requests import Picture, View, Want
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.poll import Poll
from holdfast.holder.timers import Timers
from holdfast.linux import packets
from holdfast.linux.painter_packets import MAX_PACKET, Packet
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError, MalformedMessage
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.term.queries import QueryKind

MAX_ANSWER = 8 * 1024 * 1024
"""Longest answer collected: a large screen, each cell in another colour, and
four times the longest keyframe of a usual session."""

MAX_UNPAINTED = 1024 * 1024
"""Bytes of which half may be unpainted while nobody watches."""

_QUERIES = {
    Want.CURSOR: QueryKind.CURSOR.name,
    Want.PRIVATE_CURSOR: QueryKind.PRIVATE_CURSOR.name,
}

Then = Callable[[Picture | None], None]


class PainterLink:
    """Our side of the link."""

    def __init__(
        self,
        session: SessionId,
        window: StreamWindow,
        poll: Poll,
        timers: Timers,
        size: Size,
    ) -> None:
        self._session = session
        self._window = window
        self._poll = poll
        # If nobody waits for a picture, it is for hanging up only.
        self._timer = timers.add(self.tick, is_minor=True)
        self._machine = paint_requests.Painting(
            self._view(),
            size,
            # However much is kept, a picture is soon there.
            capacity=min(window.capacity, MAX_UNPAINTED),
            is_new=window.end == 0,
        )
        self._then: dict[int, Then] = {}
        self._link: socket | None = None
        self._parts: list[bytes] = []
        self._is_stepping = False
        self.fed_at = self._machine.full_at
        """Offset of the stream after which `tick` has something to paint."""

    @property
    def is_quiet(self) -> bool:
        """Whether nobody waits for a picture, and the painter for nothing."""
        return self._machine.is_quiet

    def past(self) -> paint_requests.Past:
        """Return what the next holder needs to paint from here."""
        return self._machine.past()

    def go_on(self, past: paint_requests.Past) -> None:
        """Go on where another holder was."""
        self._machine.go_on(past)
        self.fed_at = self._machine.full_at

    def ask(self, want: Want, then: Then, upto: int | None = None) -> None:
        """Call `then` with the answer, or with None if there is none.

        At the latest after `paint_requests.START_PATIENCE`, and perhaps at once.
        """
        ticket = self._machine.wish(want, upto, time.monotonic())
        self._then[ticket] = then
        self._step()

    def resized(self, size: Size) -> None:
        """Take note of another size from here on."""
        self._machine.resized(self._window.end, size)

    def ended(self) -> None:
        """Discard the picture: the session is over."""
        self._machine.ended()
        self._step()

    def tick(self, now: float) -> None:
        """Do what the clock or the window demands; mostly nothing."""
        if self._machine.is_due(self._window.start, self._window.end, now):
            self._step()
        else:
            self._timer.set(self._machine.next_deadline())

    def _view(self) -> View:
        return View(self._window.start, self._window.end)

    def _step(self) -> None:
        if self._is_stepping:
            return  # Those told of a picture ask for another.
        self._is_stepping = True
        while effects := self._machine.next(self._view(), time.monotonic()):
            for effect in effects:
                self._perform(effect)
        self._is_stepping = False
        self.fed_at = self._machine.full_at
        self._timer.set(self._machine.next_deadline())

    def _perform(self, effect: paint_requests.Effect) -> None:
        match effect:
            case paint_requests.Connect():
                self._connect()
            case paint_requests.Disconnect():
                self._close()
            case paint_requests.Grant(ticket, picture):
                self._then.pop(ticket)(picture)
            case paint_requests.Decline(ticket):
                self._then.pop(ticket)(None)
            case _:
                self._send(effect)

    def _connect(self) -> None:
        try:
            link = packets.connect(places.painter_socket(), timeout=0)
        except (OSError, HoldfastError):
            self._machine.unreachable(time.monotonic())
            return
        if not packets.is_ours(link):
            link.close()
            self._machine.unreachable(time.monotonic())
            return
        self._link = link
        self._poll.watch(link, self._heard)
        self._machine.connected()

    def _close(self) -> None:
        if self._link is not None:
            self._poll.unwatch(self._link)
            self._link.close()
            self._link = None
        self._parts.clear()

    def _lost(self, *, of_ours: bool) -> None:
        self._close()
        self._machine.died(time.monotonic(), of_ours=of_ours)

    def _send(self, request: paint_requests.Request) -> None:
        header, content = self._written(request)
        packet = Packet({**header, "session": self._session}, content).to_bytes()
        try:
            assert self._link is not None  # noqa: S101  # asked only on a link
            self._link.send(packet)
        except OSError:
            self._lost(of_ours=False)

    def _written(  # noqa: C901, PLR0911  # one for each request
        self, request: paint_requests.Request
    ) -> tuple[Mapping[str, object], bytes]:
        match request:
            case paint_requests.Reset(size, at, keyframe):
                measures = [size.columns, size.rows]
                return {"do": "reset", "size": measures, "at": at}, keyframe
            case paint_requests.Draw(keyframe):
                return {"do": "draw"}, keyframe
            case paint_requests.Feed(start, end):
                return {"do": "feed", "at": start}, self._bytes(start, end)
            case paint_requests.Skip(at):
                return {"do": "skip", "at": at}, b""
            case paint_requests.Resize(size):
                return {"do": "resize", "size": [size.columns, size.rows]}, b""
            case paint_requests.Depict(want):
                if want in _QUERIES:
                    return {"do": "answer", "query": _QUERIES[want]}, b""
                return {"do": want.value}, b""
            case paint_requests.Drop():
                return {"do": "drop"}, b""

    def _bytes(self, start: int, end: int) -> bytes:
        found = bytes(self._window.read(start, end - start))
        while len(found) < end - start:  # It goes on where the ring begins.
            found += self._window.read(start + len(found), end - start - len(found))
        return found

    def _heard(self) -> None:
        assert self._link is not None  # noqa: S101  # it is what was heard
        try:
            raw = self._link.recv(MAX_PACKET + 1)
        except BlockingIOError:
            return
        except OSError:
            # What we asked for still lay there: others were being served.
            self._lost(of_ours=False)
        else:
            self._take(raw)
        self._step()

    def _take(self, raw: bytes) -> None:
        if not raw:
            self._lost(of_ours=True)
            return
        try:
            packet = Packet.from_bytes(raw)
            self._parts.append(packet.data)
            if packet.header.get("more") is True:
                self._check_length()
                return
            self._answered(packet, b"".join(self._parts))
        except HoldfastError:
            self._lost(of_ours=True)

    def _check_length(self) -> None:
        # Empty parts count too, or they would come for ever.
        if sum(len(part) + 64 for part in self._parts) > MAX_ANSWER:
            raise MalformedMessage("packet", "the answer is too long")

    def _answered(self, packet: Packet, content: bytes) -> None:
        self._parts.clear()
        if packet.header.get("ok") is False:
            self._machine.refused()
            return
        columns, rows = packet.pair("size")
        is_drop = (columns, rows) == (0, 0)
        size = Size(1, 1) if is_drop else Size(columns, rows)
        if not self._machine.answered(packet.number("at"), size, content):
            self._lost(of_ours=False)

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._close()
