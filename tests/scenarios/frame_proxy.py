"""A proxy in front of a holder that may change what passes.

Frames pass both ways through `toward` and `back` of a `Wrong`, which may change, drop,
repeat or invent them.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.conformance.kinds import KINDS, NAMES
from holdfast.conformance.packed_form import Malformed, packed, unpacked
from holdfast.conformance.subject import Subject

HEADER = struct.Struct(">BI")
Fields = dict[str, Any]
Frame = tuple[str, Fields | bytes]
"""A name and its fields; the payload itself, if it is no map."""


class Wrong:
    """Passes everything on; one of these for each link."""

    subject: Subject

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        """Return what the holder hears instead of a message."""
        return [(name, fields)]

    def back(self, name: str, fields: Fields) -> list[Frame]:
        """Return what the client hears instead of a message."""
        return [(name, fields)]

    def answers(self, name: str, fields: Fields) -> list[Frame]:  # noqa: ARG002
        """Return what the client hears at once, of which the holder learns nothing."""
        return []


class Proxy:
    """Listens, and has each link to the holder go through a `Wrong`."""

    def __init__(self, real: str, place: Path, kind: type[Wrong]) -> None:
        self._real, self._kind = real, kind
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(place))
        self._listener.listen(64)
        self._links: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def close(self) -> None:
        """Serve nobody any more."""
        _end(self._listener)
        self._threads[0].join()  # After it there are no more links.
        for link in self._links:
            _end(link)
        for thread in self._threads:
            thread.join()
        for link in self._links:
            link.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self._links += [near, far]
                far.connect(self._real)
                wrong = self._kind()
                for do in (self._toward, self._back):
                    self._threads.append(
                        threading.Thread(target=do, args=(wrong, near, far))
                    )
                    self._threads[-1].start()

    def _toward(self, wrong: Wrong, near: socket.socket, far: socket.socket) -> None:
        for number, payload in _frames(near):
            name = NAMES.get(number, "")
            try:
                fields = unpacked(payload)
            except Malformed:
                fields = None
            with contextlib.suppress(OSError):
                if not isinstance(fields, dict):
                    far.sendall(HEADER.pack(number, len(payload)) + payload)
                    continue
                raw = HEADER.pack(number, len(payload)) + payload
                for answer in wrong.answers(name, fields):
                    near.sendall(_written(answer))
                for frame in wrong.toward(name, fields):
                    same = frame == (name, fields) and packed(fields) != payload
                    far.sendall(raw if same else _written(frame))
        _end(far)

    def _back(self, wrong: Wrong, near: socket.socket, far: socket.socket) -> None:
        for number, payload in _frames(far):
            name = NAMES[number]
            fields = {"raw": payload} if name == "OUTPUT" else unpacked(payload)
            assert isinstance(fields, dict)
            with contextlib.suppress(OSError):
                for frame in wrong.back(name, fields):
                    near.sendall(_written(frame))
        _end(near)


def _frames(link: socket.socket) -> Iterator[tuple[int, bytes]]:
    held = b""
    while True:
        try:
            data = link.recv(65536)
        except OSError:
            return
        if not data:
            return
        held += data
        while len(held) >= HEADER.size:
            number, size = HEADER.unpack_from(held)
            end = HEADER.size + size
            if len(held) < end:
                break
            yield number, held[HEADER.size : end]
            held = held[end:]


def _written(frame: Frame) -> bytes:
    name, fields = frame
    if isinstance(fields, bytes):
        payload = fields
    else:
        payload = fields["raw"] if name == "OUTPUT" else packed(fields)
    return HEADER.pack(KINDS[name].number, len(payload)) + payload


def _end(link: socket.socket) -> None:
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)
