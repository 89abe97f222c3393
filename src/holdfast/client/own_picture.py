"""A picture of a session that this client has painted from what it was sent.

It is drawn by the painter of this machine, where an emulator that dies of what it is
fed does no harm; by one of our own where no keeper has a painter. Requests are short,
and waited for.
"""

import contextlib
import json
import socket
import subprocess
import sys

from holdfast.core.view.layout import Picture
from holdfast.core.view.rows import Row, rows_from
from holdfast.linux import packets
from holdfast.linux.painter_packets import MAX_DATA, MAX_PACKET, Packet
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError, MalformedMessage, PainterDied
from holdfast.model.geometry import Size

PATIENCE = 5.0
"""Seconds for an answer: an interpreter is started in less, on a busy machine too."""

MAX_ANSWER = 16 * 1024 * 1024
"""Longest answer taken: twice the rows that a painter keeps, each letter coloured."""

ALL = 1_000_000
"""More rows than a painter keeps."""


class OwnPicture:
    """One session, painted for one client."""

    def __init__(self, name: str) -> None:
        """Paint under a name that nobody else uses."""
        self.at = 0
        """The offset painted up to."""

        self.size = Size(1, 1)
        self._name = name
        self._link: socket.socket | None = None
        self._own: subprocess.Popen[bytes] | None = None

    def reset(self, size: Size, at: int, data: bytes) -> None:
        """Begin with a keyframe, which `draw` goes on with.

        Raises:
            PainterDied: There is no painter, or no more.

        """
        self._ask({"do": "reset", "size": [size.columns, size.rows], "at": at})
        self.at, self.size = at, size
        self.draw(data)

    def draw(self, data: bytes) -> None:
        """Paint more of a keyframe.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        for start in range(0, len(data), MAX_DATA):
            self._ask({"do": "draw"}, data[start : start + MAX_DATA])

    def feed(self, data: bytes) -> None:
        """Paint what was printed next.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        for start in range(0, len(data), MAX_DATA):
            piece = data[start : start + MAX_DATA]
            self._ask({"do": "feed", "at": self.at}, piece)
            self.at += len(piece)

    def resize(self, size: Size) -> None:
        """Become another size.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        self._ask({"do": "resize", "size": [size.columns, size.rows]})
        self.size = size

    def screen(self) -> Picture:
        """Return what is to be seen.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        told, rows = self._rows(0, self.size.rows)
        return _picture(told, rows, self.size)

    def everything(self) -> tuple[list[Row], tuple[int, int]]:
        """Return all rows that are kept, and where among them the cursor is.

        Raises:
            PainterDied: It is gone, and the picture with it.

        """
        told, written = self._rows(ALL, ALL)
        above = _number(told.get("first"))
        row, column = _pair(told.get("cursor"))
        return rows_from(written, above + self.size.rows), (above + row, column)

    def close(self) -> None:
        """Put the picture away."""
        if self._link is not None:
            with contextlib.suppress(HoldfastError):
                self._ask({"do": "drop"})
        self._hang_up()

    def _rows(self, above: int, count: int) -> tuple[dict[str, object], bytes]:
        answer = self._ask({"do": "rows", "above": above, "count": count})
        head, _, rows = answer.partition(b"\n")
        try:
            told = json.loads(head)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise self._lost("its rows are none")
        return told, rows

    def _ask(self, request: dict[str, object], data: bytes = b"") -> bytes:
        if self._link is None:
            self._link = self._connect()
        link = self._link
        packet = Packet({**request, "session": self._name}, data)
        parts: list[bytes] = []
        length = 0
        try:
            link.send(packet.to_bytes())
            while True:
                answer = Packet.from_bytes(link.recv(MAX_PACKET + 1))
                length += len(answer.data) + 64  # Empty parts count too.
                if answer.header.get("ok") is not True or length > MAX_ANSWER:
                    raise MalformedMessage("packet", "no answer that can be used")
                parts.append(answer.data)
                if answer.header.get("more") is not True:
                    return b"".join(parts)
        except (OSError, HoldfastError) as error:
            raise self._lost(str(error)) from None

    def _lost(self, why: str) -> PainterDied:
        self._hang_up()
        return PainterDied(why)

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        if self._own is not None:
            self._own.kill()
            self._own.wait()
            self._own = None

    def _connect(self) -> socket.socket:
        try:
            link = packets.connect(places.painter_socket(), PATIENCE)
        except (OSError, HoldfastError):
            link = self._connect_own()
        if not packets.is_ours(link):
            link.close()
            raise PainterDied("it is not ours")
        return link

    def _connect_own(self) -> socket.socket:
        """Start a painter for us alone."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        link.settimeout(PATIENCE)
        try:
            with listener:
                listener.bind("")  # The kernel finds a name that nobody has.
                listener.listen(1)
                self._own = subprocess.Popen(  # our own program
                    [sys.executable, "-P", "-m", "holdfast.painter.main"],
                    stdin=listener.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                link.connect(listener.getsockname())
        except OSError as error:
            link.close()
            raise self._lost(str(error)) from None
        return link


def _picture(told: dict[str, object], written: bytes, size: Size) -> Picture:
    """Return a picture of what a painter says, as far as it makes sense."""
    row, column = _pair(told.get("cursor"))
    modes, title = told.get("modes"), told.get("title")
    return Picture(
        size=size,
        rows=tuple(rows_from(written, size.rows)),
        cursor=(min(row, size.rows - 1), min(column, size.columns - 1)),
        is_cursor_shown=told.get("visible") is True,
        is_alternate=told.get("alternate") is True,
        above=_number(told.get("above")),
        title=title if isinstance(title, str) else "",
        modes=frozenset(map(_number, modes))
        if isinstance(modes, list)
        else frozenset(),
        shape=_number(told.get("shape")),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value <= ALL else 0


def _pair(value: object) -> tuple[int, int]:
    match value:
        case [one, other]:
            return _number(one), _number(other)
        case _:
            return 0, 0
