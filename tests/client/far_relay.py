"""A relay on a real socket, with a host behind it, which can be made to misbehave."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.core.client.relay_world import HOST, FarWorld

from holdfast.client import hosts
from holdfast.client.hosts import KnownHost
from holdfast.client.own_name import login_name
from holdfast.model.errors import HoldfastError

US_SEED = b"u" * 32
"""As in relay_world."""

Serve = Callable[[socket.socket], None]


class FarRelay:
    """Listens, and has each connection served by a thread of its own."""

    def __init__(self, serve: Serve | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.worlds: list[FarWorld] = []
        self.links: list[socket.socket] = []
        self.changes: Callable[[FarWorld], None] = lambda _world: None
        self._serve = serve or self._serve_well
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it is dialled."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Hang up on everybody."""
        self._listener.close()
        for link in self.links:
            link.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                self.links.append(link)
                threading.Thread(target=self._attend, args=[link], daemon=True).start()

    def _attend(self, link: socket.socket) -> None:
        with link, contextlib.suppress(OSError, HoldfastError):
            self._serve(link)

    def _serve_well(self, link: socket.socket) -> None:
        world = FarWorld(name=f"127.0.0.1:{self.port}")
        self.changes(world)
        self.worlds.append(world)
        while raw := link.recv(65536):
            link.sendall(world.hear(raw))


@contextlib.contextmanager
def known_at(relay: FarRelay, folder: Path) -> Iterator[KnownHost]:
    """Have a key of our own, and know the host as `box`."""
    (folder / "config/operators" / login_name() / "key").write_bytes(US_SEED)
    made = KnownHost("box", HOST.public, HOST.static_public, (relay.url,))
    hosts.save(made)
    yield made
    relay.close()
