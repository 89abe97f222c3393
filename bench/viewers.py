"""A crowd that watches one session: `python -m bench.viewers SESSION COUNT MARK`.

Prints READY when all are attached, and at the end one line of JSON: for each
viewer what it was sent, and what it was told it had missed. It looks into frames
no further than that, so that what is measured is the holder.
"""

import json
import selectors
import socket
import struct
import sys
from dataclasses import asdict, dataclass, field

from holdfast.client import current_operator
from holdfast.crypto.local_proof import local_proof
from holdfast.linux.stored import places
from holdfast.model.ids import ENTROPY, SessionId, client_id
from holdfast.wire import messages as wire
from holdfast.wire.codec import decode, encode
from holdfast.wire.frames import HEADER_SIZE, FrameKind, FrameReader
from holdfast.wire.versions import SPOKEN

READ = 256 * 1024
_HEADER = struct.Struct(">BI")
_KEPT = 64


@dataclass(slots=True)
class Seen:
    """What one viewer has been sent."""

    output: int = 0
    gaps: int = 0
    ended: bool = False
    _header: bytes = b""
    _left: int = 0
    _kind: int = 0
    _tail: bytes = field(default=b"", repr=False)

    def feed(self, raw: bytes, mark: bytes) -> None:
        """Count what came; `mark` in the last of it is the end."""
        at = 0
        while at < len(raw):
            if not self._left:
                at = self._begin(raw, at)
                continue
            taken = min(self._left, len(raw) - at)
            self.output += taken if self._kind == FrameKind.OUTPUT else 0
            self._left -= taken
            at += taken
        self._tail = self._tail[-_KEPT:] + raw[-1024:]
        self.ended = mark in self._tail

    def _begin(self, raw: bytes, at: int) -> int:
        missing = HEADER_SIZE - len(self._header)
        self._header += raw[at : at + missing]
        if len(self._header) == HEADER_SIZE:
            self._kind, self._left = _HEADER.unpack(self._header)
            self._header = b""
            self.gaps += self._kind == FrameKind.GAP
        return at + missing


def main() -> int:
    """Watch until every viewer has seen the end."""
    session, count, mark = SessionId(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    selector = selectors.DefaultSelector()
    crowd = [Seen() for _ in range(count)]
    for number, seen in enumerate(crowd):
        selector.register(_attached(session, number), selectors.EVENT_READ, seen)
    print("READY", flush=True)
    while not all(seen.ended for seen in crowd):
        for key, _ in selector.select():
            link = key.fileobj
            assert isinstance(link, socket.socket)  # noqa: S101  # we registered it
            raw = link.recv(READ)
            if not raw:
                print("a viewer was hung up on", file=sys.stderr)
                return 1
            key.data.feed(raw, mark.encode())
    facts = [
        {name: asdict(seen)[name] for name in ("output", "gaps", "ended")}
        for seen in crowd
    ]
    print(json.dumps(facts), flush=True)
    return 0


def _attached(session: SessionId, number: int) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.connect(str(places.session_socket(session)))
    link.sendall(encode(wire.Hello(SPOKEN, "bench", "cli")))
    us = current_operator.ourselves()
    proof = local_proof(us.token(), session, _nonce(link))
    link.sendall(encode(wire.Identify(us.actor.id, proof)))
    attach = wire.Attach(
        session=session,
        client=client_id(number.to_bytes(ENTROPY)),
        mode=wire.Mode.OBSERVE,
        size=None,
        incarnation=None,
        after=None,
        keyframe=False,
    )
    link.sendall(encode(attach))
    return link


def _nonce(link: socket.socket) -> bytes:
    """Return what our proof has to answer; the holder says nothing after it."""
    reader = FrameReader()
    while raw := link.recv(READ):
        for frame in reader.feed(raw):
            if isinstance(message := decode(frame), wire.Challenge):
                return message.nonce
    raise ConnectionResetError("the holder does not ask who we are")


if __name__ == "__main__":
    sys.exit(main())
