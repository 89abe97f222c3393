"""The bytes of a logbook, on this machine or a remote host."""

from holdfast.client import keeper
from holdfast.client.session_location import home_of
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.linux.stored.book_pieces import piece_bytes, start_of
from holdfast.model.errors import SessionNotFound
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import LogPiece, ReadLog


def open_log(session: SessionId) -> "OwnFile | FarFile":
    """Open the logbook of a session, here or on its host.

    Raises:
        OSError: There is no such file here.
        HoldfastError: Its host does not show it to us.

    """
    host = home_of(session)
    return FarFile(host, session) if host else OwnFile(places.session_log(session))


def head_line(session: SessionId, limit: int) -> bytes | None:
    """Return the signed head that is kept beside a logbook, as written, or None."""
    host = home_of(session)
    try:
        if host:
            raw = FarFile(host, session, head=True).read(limit, 0)
        else:
            raw = places.session_head(session).read_bytes()[:limit]
    except (FileNotFoundError, SessionNotFound):
        return None
    return raw.removesuffix(b"\n")


class OwnFile(BookParts):
    """A logbook of this machine."""

    def start(self, wanted: ReadLog) -> int:
        """Return the offset of an `index`, a moment `since` or the `last` entries."""
        return start_of(self, self.length(), wanted)


class FarFile:
    """A file on a remote host, read piece by piece."""

    def __init__(self, host: str, session: SessionId, *, head: bool = False) -> None:
        self._host = host
        self._whole = ReadLog(session, head=head)
        self._length = 0

    def start(self, wanted: ReadLog) -> int:
        """Return the offset of an `index`, a moment `since` or the `last` entries."""
        piece = self._piece(wanted._replace(id=self._whole.id, head=self._whole.head))
        return piece.from_ or 0  # An older host starts at the beginning.

    def read(self, size: int, offset: int) -> bytes:
        """Return what the host sends in one piece, which may be less than asked."""
        piece = self._piece(self._whole._replace(from_=offset))
        self._length = piece.size
        return piece_bytes(piece)[:size]

    def length(self) -> int:
        """Return how long it was when it was last read."""
        return self._length

    def is_gone(self) -> bool:
        """Tell no: only its host knows."""
        return False

    def close(self) -> None:
        """Do nothing: no link is kept."""

    def _piece(self, wanted: ReadLog) -> LogPiece:
        answer = keeper.request(wanted, host=self._host)
        return record_of(LogPiece, answer)
