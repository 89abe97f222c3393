"""Painters that behave badly, as programs to start."""

import sys

_SERVING = """
import os, signal, socket
from holdfast.painter.easel import Easel
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.painter.main import serve

class Fragile(GhosttyEmulator):
    def feed(self, data):
        if b"BOOM" in data:
            os.kill(os.getpid(), signal.SIGSEGV)
        super().feed(data)

serve(socket.socket(fileno=0), Easel(Fragile))
"""

_SAYING = """
import socket
from holdfast.painter.packets import Packet
LONG = bytes(60_000)
link = socket.socket(fileno=0)
link.send(Packet({{"ready": True}}).to_bytes())
while link.recv(100_000):
    {then}
"""


def fragile() -> tuple[str, ...]:
    """Return a real painter whose emulator does not survive the text BOOM."""
    return (sys.executable, "-I", "-c", _SERVING)


def saying(then: str) -> tuple[str, ...]:
    """Return a program that is ready, and then does this to every request."""
    return (sys.executable, "-I", "-c", _SAYING.format(then=then))
