"""Words that only the two ends may know, and all the places to look for them."""

import base64
import contextlib
import gzip
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

ETH_P_ALL = 3
SNAP = 65_536


def canary() -> str:
    """Return a word that is nowhere yet, and that can be a name."""
    return f"canary-{os.urandom(8).hex()}"


def spellings(word: str) -> list[bytes]:
    """Return how a word may stand somewhere: as it is, or written otherwise."""
    raw = word.encode()
    whole = [base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)]
    return [raw, raw.hex().encode(), word.encode("utf-16-le"), *whole]


def found_in(text: bytes, words: list[str]) -> list[str]:
    """Return the words that stand in a text, however they are written."""
    return [
        word for word in words if any(one in text for one in spellings(word) if one)
    ]


def memory_of(pid: int) -> bytes:
    """Return all that a process has in its memory to read and to write."""
    found = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            bounds = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if bounds is None:
                continue
            start, end = (int(one, 16) for one in bounds.groups())
            with contextlib.suppress(OSError, ValueError):
                memory.seek(start)
                found.append(memory.read(end - start))
    return b"".join(found)


def files_of(folder: Path) -> bytes:
    """Return all that is written in a folder, unpacked if it is packed."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            found.append(raw)
            with contextlib.suppress(OSError, EOFError):
                found.append(gzip.decompress(raw))
    return b"".join(found)


class Tap:
    """Takes a copy of every packet that passes an interface. Needs root."""

    def __init__(self, interface: str) -> None:
        self.seen = bytearray()
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)
        )
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self._socket.bind((interface, 0))
        self._socket.settimeout(0.2)
        self._is_on = True
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no longer."""
        self._is_on = False
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while self._is_on:
            with contextlib.suppress(TimeoutError, OSError):
                self.seen += self._socket.recv(SNAP)


@contextlib.contextmanager
def tapped(interface: str) -> Iterator[Tap]:
    """Return a tap that is closed when the block is."""
    tap = Tap(interface)
    try:
        yield tap
    finally:
        tap.close()
