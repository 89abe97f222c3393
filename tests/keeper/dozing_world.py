"""Sessions of real descriptors that doze, and a keeper that takes what it is given."""

import os
import pty
import socket
import threading
import tty
from collections.abc import Callable

from holdfast.keeper.trustee import Entrusted, Trust
from holdfast.linux import packets
from holdfast.linux.stored import places

PATIENCE = 20.0


class Asleep:
    """One session that dozes: what is entrusted of it, and its terminal's other end."""

    def __init__(self, name: str) -> None:
        master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("")  # Anywhere: nobody is to find it.
            listener.listen(4)
            listener_fd = os.dup(listener.fileno())
        memory, leader = os.memfd_create("window"), os.pidfd_open(os.getpid())
        self.fds = [master, memory, listener_fd, leader]
        self.facts: dict[str, object] = {"name": name, "state": "running"}
        self.facts["dozing"] = True

    def entrusted(self) -> Entrusted:
        """Return the copy that is kept of it."""
        return Entrusted(dict(self.facts), self.fds, None)

    def stir(self) -> None:
        """Print a byte."""
        os.write(self.slave, b"x")


class Background:
    """Something that runs beside the test until it returns."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def is_over(self) -> bool:
        """Wait until it has returned; False if it does not."""
        self._thread.join(PATIENCE)
        return not self._thread.is_alive()


class Keeper:
    """A keeper that is given things, and can be asked for what it was given."""

    def __init__(self) -> None:
        self._listener = packets.listen(places.keeper_socket())
        self._listener.settimeout(PATIENCE)

    def given(self, count: int, *, answers: bool = True) -> list[packets.Packet]:
        """Return what the next who comes gives; who is not answered is hung up on."""
        link, _ = self._listener.accept()
        link.settimeout(PATIENCE)
        found: list[packets.Packet] = []
        with link:
            while len(found) < count:
                heard = packets.receive(link)
                assert heard is not None
                packets.close(heard[1])
                found.append({**heard[0], "fds": len(heard[1])})
                if answers:
                    packets.send(link, {"ok": True})
        return found

    def close(self) -> None:
        """Be gone."""
        self._listener.close()
        places.keeper_socket().unlink(missing_ok=True)


def left(trust: Trust) -> None:
    """Let go of what is still there."""
    for session in [*trust.copies]:
        trust.drop(session)
