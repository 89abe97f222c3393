"""A session's screen, from the first bytes of a link.

The same bytes go to `attachment` afterwards, which makes the same of them; this is
the part of it that is needed to paint before the rest is loaded.

Invariant, checked by tests/core/client/test_early_picture.py:

I1  What is painted is how that begins which an Attachment prints of the same frames.
"""

from holdfast.core.client.cleared_screen import cleared
from holdfast.wire import first_messages as first

_PING, _GOODBYE, _REFUSE, _EXITED, _LOST = 0x03, 0x05, 0x22, 0x64, 0x65

UNUSUAL = frozenset({_PING, _GOODBYE, _REFUSE, _EXITED, _LOST})
"""What is to be answered, or ends the showing. All else only says something, and
can be said later."""


class EarlyPicture:
    """One session, on a terminal that shows nothing of it yet."""

    def __init__(self) -> None:
        self.attached: first.Fields | None = None
        """How things stood when we came."""

        self.is_whole = False
        """Whether everything is painted that had been printed when we came."""

        self._offset: int | None = None
        self._is_painting = False

    def hear(self, frames: list[tuple[int, bytes]]) -> bytes:
        """Take frames that came together; return what they add to the screen.

        Raises:
            NotOneOfThese: Something else is to be done about one of them.

        """
        return b"".join(self._hear(kind, payload) for kind, payload in frames)

    def _hear(self, kind: int, payload: bytes) -> bytes:
        if self.attached is None:
            if kind != first.ATTACHED:
                raise first.NotOneOfThese
            self.attached = first.read(kind, payload)
            self.is_whole = self.attached["end"] == 0
            return b""
        if kind in UNUSUAL:
            raise first.NotOneOfThese
        if kind in (first.OUTPUT, first.KEYFRAME, first.GAP):
            return self._painted(kind, first.read(kind, payload))
        return b""

    def _painted(self, kind: int, fields: first.Fields) -> bytes:
        match fields:
            case {"offset": int(offset), "data": bytes(data)} if kind == first.OUTPUT:
                return self._printed(offset, data)
            case {
                "offset": int(offset),
                "size": {"rows": int(rows)},
                "more": bool(more),
                "data": bytes(data),
            }:
                before = b"" if self._is_painting else cleared(rows)
                self._is_painting = more
                if not more:
                    self._reached(offset)
                return before + data
            case {"end": int(end)}:
                self._reached(end)
                return b""
            case _:
                raise first.NotOneOfThese

    def _printed(self, offset: int, data: bytes) -> bytes:
        seen = offset if self._offset is None else self._offset
        self._reached(max(seen, offset + len(data)))
        return data[max(0, seen - offset) :]

    def _reached(self, offset: int) -> None:
        self._offset = offset
        end = (self.attached or {})["end"]
        self.is_whole = self.is_whole or (isinstance(end, int) and offset >= end)
