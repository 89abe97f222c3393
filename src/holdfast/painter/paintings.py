"""The sessions being painted, and how far.

One emulator per session, with the offset it has painted up to. No more than
MAX_PICTURES are kept: the least recently used is discarded, and a client that asks
for it has to have it painted again.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from holdfast.linux.painter_packets import Packet
from holdfast.model import errors
from holdfast.model.geometry import Size
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.term.hyperlinks import LinkFilter
from holdfast.term.queries import QueryKind
from holdfast.term.screen import Screen

MAX_PICTURES = 64
"""Sessions painted at once: at their bound of a few MB each, they fit into the
memory that the process may have."""

_CANCEL = b"\x18"

_CURSOR_REPORTS = {
    QueryKind.CURSOR.name: b"\x1b[%d;%dR",
    QueryKind.PRIVATE_CURSOR.name: b"\x1b[?%d;%d;1R",
}


class Picture:
    """One session, painted up to an offset."""

    def __init__(self, emulator: GhosttyEmulator, size: Size, at: int) -> None:
        self.emulator = emulator
        self.size = size
        self.at = at
        self._links = LinkFilter()

    def draw(self, data: bytes) -> None:
        """Paint bytes that are no part of the stream."""
        self.emulator.feed(self._links.feed(data))

    def feed(self, at: int, data: bytes) -> None:
        """Paint the stream from `at` on, as far as it has not been painted yet.

        Raises:
            UsageError: There is a gap before `at`.

        """
        if at > self.at:
            raise errors.OffsetAhead(at, self.at)
        fresh = data[self.at - at :]
        self.draw(fresh)
        self.at += len(fresh)

    def skip(self, at: int) -> None:
        """Go on at a later offset, and in the middle of nothing."""
        self.draw(_CANCEL)
        self.at = max(self.at, at)

    def resize(self, size: Size) -> None:
        """Become another size."""
        self.emulator.resize(size)
        self.size = size


class Paintings:
    """The pictures of one painter."""

    def __init__(
        self, emulator: Callable[[Size], GhosttyEmulator], limit: int = MAX_PICTURES
    ) -> None:
        self._emulator = emulator
        self._limit = limit
        self._pictures: OrderedDict[str, Picture] = OrderedDict()
        self._requests: dict[str, Callable[[Picture, Packet], bytes]] = {
            "draw": _draw,
            "feed": _feed,
            "skip": _skip,
            "resize": _resize,
            "keyframe": _keyframe,
            "screen": _screen,
            "cells": _cells,
            "rows": _rows,
            "answer": _answer,
        }

    def handle(self, request: Packet) -> Packet:
        """Do what is asked, and return the answer with all its data.

        Raises:
            PeerError: The request is none of those in `packets`.
            UsageError: It makes no sense for this session.
            Unavailable: The session is not being painted.

        """
        do, session = request.text("do"), request.text("session")
        if do == "drop":
            self._drop(session)
            return Packet({"ok": True, "at": 0, "size": [0, 0]})
        if do == "reset":
            picture = self._reset(session, request)
            data = b""
        else:
            picture = self._picture(session)
            if do not in self._requests:
                raise errors.MalformedMessage("packet", "nobody knows what to do")
            data = self._requests[do](picture, request)
        size = [picture.size.columns, picture.size.rows]
        return Packet({"ok": True, "at": picture.at, "size": size}, data)

    def _picture(self, session: str) -> Picture:
        if session not in self._pictures:
            raise errors.ScreenForgotten(session)
        self._pictures.move_to_end(session)
        return self._pictures[session]

    def _reset(self, session: str, request: Packet) -> Picture:
        size = Size(*request.pair("size"))
        at = request.number("at")
        self._drop(session)
        while len(self._pictures) >= self._limit:
            self._drop(next(iter(self._pictures)))
        picture = Picture(self._emulator(size), size, at)
        picture.draw(request.data)
        self._pictures[session] = picture
        return picture

    def _drop(self, session: str) -> None:
        if session in self._pictures:
            self._pictures.pop(session).emulator.close()


def _draw(picture: Picture, request: Packet) -> bytes:
    picture.draw(request.data)
    return b""


def _feed(picture: Picture, request: Packet) -> bytes:
    picture.feed(request.number("at"), request.data)
    return b""


def _skip(picture: Picture, request: Packet) -> bytes:
    picture.skip(request.number("at"))
    return b""


def _resize(picture: Picture, request: Packet) -> bytes:
    picture.resize(Size(*request.pair("size")))
    return b""


def _keyframe(picture: Picture, _: Packet) -> bytes:
    return picture.emulator.keyframe()


def _screen(picture: Picture, _: Packet) -> bytes:
    return json.dumps(_seen(picture.emulator).to_object()).encode()


def _cells(picture: Picture, _: Packet) -> bytes:
    emulator = picture.emulator
    coloured = replace(_seen(emulator), runs=emulator.cells())
    return json.dumps(coloured.to_object()).encode()


def _rows(picture: Picture, request: Packet) -> bytes:
    above, count = request.number("above"), request.number("count")
    told, rows = picture.emulator.rows(above, count)
    return json.dumps(told).encode() + b"\n" + rows


def _seen(emulator: GhosttyEmulator) -> Screen:
    return replace(emulator.screen(), hidden=emulator.hidden(), above=emulator.above())


def _answer(picture: Picture, request: Packet) -> bytes:
    report = _CURSOR_REPORTS.get(request.text("query"), b"")
    return report % picture.emulator.cursor() if report else b""
