"""A keeper that says what a test has it say, where holders look for one."""

import os
import socket  # noqa: TC003  # an annotation people read
from concurrent.futures import Future, ThreadPoolExecutor

from holdfast.linux import packets
from holdfast.linux.stored import folders

PATIENCE = 10.0
TAKEN: packets.Packet = {"ok": True}


class Keeper:
    """One that says what a test has it say."""

    def __init__(self) -> None:
        self._listener = packets.listen(folders.keeper_address())
        self._listener.settimeout(PATIENCE)
        self._pool = ThreadPoolExecutor(1)
        self.fds: list[int] = []
        self.link: socket.socket | None = None

    def expect(self, *answers: packets.Packet) -> "Future[packets.Packet]":
        """Say these things to the next holder that comes; return what it brought."""
        return self._pool.submit(self._take, answers)

    def _take(self, answers: tuple[packets.Packet, ...]) -> packets.Packet:
        if self.link is not None:
            self.link.close()
        self.link, _ = self._listener.accept()
        self.link.settimeout(PATIENCE)
        heard = self.heard()
        for answer in answers:
            self.say(**answer)
        if not answers:
            self.leave()
        return heard

    def heard(self) -> packets.Packet:
        """Return the next thing that the holder says."""
        assert self.link is not None
        heard = packets.receive(self.link)
        assert heard is not None
        self.fds += heard[1]
        return heard[0]

    def say(self, **packet: object) -> None:
        """Say something to the holder."""
        assert self.link is not None
        packets.send(self.link, packet)

    def has_more(self) -> bool:
        """Tell whether the holder has said more than was heard."""
        assert self.link is not None
        self.link.settimeout(0)
        try:
            return packets.receive(self.link) is not None
        except BlockingIOError:
            return False
        finally:
            self.link.settimeout(PATIENCE)

    def leave(self) -> None:
        """Hang up."""
        assert self.link is not None
        self.link.close()
        self.link = None

    def close(self) -> None:
        """Be gone."""
        self._listener.close()
        self._pool.shutdown()
        if self.link is not None:
            self.link.close()
        for fd in self.fds:
            os.close(fd)
