"""Painters on a socket of their own, started by whoever knocks."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from socket import socket

from holdfast.linux import packets
from holdfast.linux.painter_packets import MAX_PACKET, Packet
from holdfast.linux.programs import ROOT, painter_program

_SERVING = """
import os, signal, socket, sys
sys.path.insert(0, {root!r})
from holdfast.painter.paintings import Paintings
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.painter.main import Painter

class Fragile(GhosttyEmulator):
    def feed(self, data):
        if b"BOOM" in data:
            os.kill(os.getpid(), signal.SIGSEGV)
        super().feed(data)

Painter(socket.socket(fileno=0), Paintings(Fragile), rest={rest}).run()
"""

_SAYING = """
import socket, sys
sys.path.insert(0, {root!r})
from holdfast.linux.painter_packets import Packet
LONG = bytes(60_000)
link, _ = socket.socket(fileno=0).accept()
while link.recv(100_000):
    {then}
"""


def fragile(rest: float = 60.0) -> list[str]:
    """Return a real painter whose emulator does not survive the text BOOM."""
    return [sys.executable, "-I", "-c", _SERVING.format(root=ROOT, rest=rest)]


def saying(then: str) -> list[str]:
    """Return a program that does this to every request."""
    return [sys.executable, "-I", "-c", _SAYING.format(root=ROOT, then=then)]


def _plain() -> list[str]:
    # Without the last word, which names a place that a test need not have.
    return painter_program()[:4]


def _is_readable(link: socket, milliseconds: int) -> bool:
    poller = select.poll()  # select() takes no descriptor over 1023
    poller.register(link, select.POLLIN)
    return bool(poller.poll(milliseconds))


class Door:
    """What the keeper does: who knocks while no painter lives has one started."""

    def __init__(self, path: Path, program: Sequence[str] | None = None) -> None:
        self.listener = packets.listen(path)
        self.program = _plain() if program is None else program
        self.process: subprocess.Popen[bytes] | None = None
        self.links: list[socket] = []
        self.started = 0

    def tend(self) -> None:
        """Start a painter if somebody knocks and there is none."""
        if self.process is not None and self.process.poll() is not None:
            self.process = None
        if self.process is None and _is_readable(self.listener, 0):
            self.started += 1
            self.process = subprocess.Popen(
                self.program,
                stdin=self.listener.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Return the painter that runs."""
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        """Kill the painter as nothing can be killed harder."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """End everything."""
        for link in (self.listener, *self.links):
            link.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Asker:
    """One link to a painter, and its answers."""

    def __init__(self, door: Door, path: Path) -> None:
        self._door = door
        self.link = packets.connect(path, timeout=10)
        door.links.append(self.link)

    def ask(self, do: str, data: bytes = b"", **more: object) -> Packet:
        """Ask, and return the answer with all its data."""
        self.send(do, data, **more)
        return self.answer()

    def send(self, do: str, data: bytes = b"", **more: object) -> None:
        """Ask, and do not wait."""
        request = Packet({"do": do, "session": "s", **more}, data)
        self.link.send(request.to_bytes())

    def answer(self) -> Packet:
        """Return the next answer."""
        parts = []
        while True:
            packet = self._received()
            parts.append(packet.data)
            if packet.header.get("more") is not True:
                return Packet(packet.header, b"".join(parts))

    def is_hung_up_on(self) -> bool:
        """Tell whether the painter has closed the link."""
        try:
            return self._wait() == b""
        except ConnectionResetError:
            return True

    def _received(self) -> Packet:
        raw = self._wait()
        if not raw:
            raise EOFError
        return Packet.from_bytes(raw)

    def _wait(self) -> bytes:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            self._door.tend()
            if _is_readable(self.link, 20):
                return self.link.recv(MAX_PACKET + 1)
        raise TimeoutError
