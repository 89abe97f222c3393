"""Real keepers in a folder of their own, and what is said to them."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.leftovers import end_everything
from tests.scenarios.support import eventually

from holdfast.linux import packets
from holdfast.linux.stored import places

PATIENCE = 20.0

PROGRAM = """
import sys
from holdfast.keeper import loop
loop.STALE_PATIENCE = loop.RESUME_PATIENCE = PATIENCE
loop.main(sys.argv[1:])
"""
"""A keeper with a patience of its own where it waits for others."""


class Kept:
    """A runtime folder, and the keepers that were started in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.patience = 0.05
        """Seconds that a keeper waits for others."""

        self.started: list[subprocess.Popen[str]] = []
        self._links: list[socket.socket] = []

    def start(self, *words: str, fds: tuple[int, ...] = ()) -> "subprocess.Popen[str]":
        """Start a keeper."""
        text = PROGRAM.replace("= PATIENCE", f"= {self.patience}")
        program = subprocess.Popen(
            [sys.executable, "-c", text, *words],
            pass_fds=fds,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(program)
        return program

    def link(self) -> socket.socket:
        """Return a link to the keeper."""
        made = eventually(
            "a keeper", lambda: packets.connect(places.keeper_socket(), PATIENCE)
        )
        self._links.append(made)
        return made

    def ask(self, **packet: object) -> packets.Packet:
        """Ask the keeper something."""
        link = self.link()
        packets.send(link, packet)
        return said(link)

    def pair(self) -> tuple[socket.socket, int]:
        """Return a link of which a keeper gets the other end: what has its number."""
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.settimeout(PATIENCE)
        self._links += [near, far]
        return near, far.fileno()

    def close(self) -> None:
        """Leave nothing."""
        end_everything(str(self.folder))
        for program in self.started:
            program.communicate()
        for link in self._links:
            link.close()


def said(link: socket.socket) -> packets.Packet:
    """Return what is said next."""
    heard = packets.receive(link)
    assert heard is not None
    packets.close(heard[1])
    return heard[0]


def until(link: socket.socket, word: str) -> packets.Packet:
    """Return the first packet that is of this kind."""
    while (found := said(link)).get("do") != word:
        pass
    return found


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """Yield a folder for keepers, in which nothing is left."""
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(folder))
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    made = Kept(folder)
    yield made
    made.close()
