"""The painter: a process that draws screens and holds nothing of value.

It has one descriptor, a socket as its standard input, and speaks what
`packets` says. It never sees a terminal, a file or a key. When the socket is
closed, or something comes that is no request, it ends; when the emulator
crashes, hangs or wants too much memory, it dies, and somebody starts another.

    python -I -m holdfast.painter.main <socket
"""

import gc
import socket
import sys

from holdfast.model.errors import HoldfastError, PeerError
from holdfast.model.geometry import Size
from holdfast.painter.easel import Easel
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.painter.limits import confine, cpu_limit
from holdfast.painter.packets import MAX_DATA, MAX_PACKET, READY, Packet

STANDARD_INPUT = 0


def serve(link: socket.socket, easel: Easel) -> None:
    """Answer requests until the other side is gone.

    Raises:
        PeerError: Something came that is no request.

    """
    link.send(Packet({READY: True}).to_bytes())
    while raw := link.recv(MAX_PACKET + 1):
        with cpu_limit():
            answer = _answered(easel, Packet.from_bytes(raw))
        for part in _parts(answer):
            link.send(part.to_bytes())


def main() -> int:
    """Run the process, and return its exit status."""
    link = socket.socket(fileno=STANDARD_INPUT)
    confine()
    _warm_up()
    gc.freeze()  # what was loaded stays: looking through it again costs time
    try:
        serve(link, Easel(GhosttyEmulator))
    except (PeerError, ConnectionError):
        return 1
    return 0


def _warm_up() -> None:
    # The library's types are read when first used, which takes a fifth of a
    # second: before READY, it counts against the time to start.
    emulator = GhosttyEmulator(Size(2, 2))
    emulator.feed("\x1b[44m\x1b[2J\x1b[?6h漢".encode())
    emulator.keyframe()
    emulator.close()


def _answered(easel: Easel, request: Packet) -> Packet:
    try:
        return easel.handle(request)
    except PeerError:
        raise
    except HoldfastError as error:
        said = {"code": error.code, "text": str(error), "facts": error.facts}
        return Packet({"ok": False, **said})


def _parts(answer: Packet) -> list[Packet]:
    data = answer.data
    starts = range(0, len(data), MAX_DATA) or [0]
    last = starts[-1]
    return [
        Packet({**answer.header, "more": start != last}, data[start : start + MAX_DATA])
        for start in starts
    ]


if __name__ == "__main__":
    sys.exit(main())
