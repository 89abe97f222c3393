"""The dozer: watches every session that dozes, and says which of them must wake.

It is a fork of the keeper, as the trustee is, and begins with what the keeper has of
such sessions. It reads nothing: a byte, a connection or a dead leader waits for the
holder that is woken by it. When the keeper is gone it does what the trustee does, so
that a session that dozes has three processes which keep it: keeper, trustee and dozer.

A keeper that does not take a session which has to wake hangs; then it is woken from
here. A keeper that is told to end tells the dozer to rest; see dozer_rest.
"""

import contextlib
import selectors
import signal
import socket
import time

from holdfast.keeper.doze_watch import Watch
from holdfast.keeper.dozer_rest import Alone
from holdfast.keeper.own_wakes import OwnWakes
from holdfast.keeper.trustee import Trust
from holdfast.linux import packets

SILENCE = 2.0
"""Seconds for the keeper to take a session that wakes. One that does not hangs, and is
replaced after a few more; a client of the session does not wait for that."""


class Dozer:
    """The process, while there is a keeper."""

    def __init__(self, link: socket.socket, trust: Trust) -> None:
        self.is_resting = False
        self._link = link
        self._is_linked = True
        self.watch = Watch(trust, self._woke)
        self._wakes = OwnWakes(trust, self.watch.selector)
        self.watch.selector.register(link, selectors.EVENT_READ, self._ready)
        for session in trust.copies:
            self.watch.begin(session)

    def run(self) -> None:
        """Watch until the keeper is gone."""
        while self._is_linked:
            at = self._wakes.next_deadline()
            now = time.monotonic()
            self.watch.wait(None if at is None else max(at - now, 0.0))
            self._wakes.tick(time.monotonic())
        self._wakes.end()

    def _ready(self, link: socket.socket, _events: int) -> None:
        heard = packets.receive(link)
        if heard is None:
            self.watch.selector.unregister(link)
            self._is_linked = False
            return
        packet, fds = heard
        match packet.get("do"):
            case "ping":
                self._say({"do": "pong"})
            case "pong":
                pass
            case "rest":
                self.is_resting = True
            case _:
                session = str(packet.get("id"))
                self._wakes.discard(session)
                self.watch.end(session)
                self.watch.trust.take(packet, fds)
                self.watch.begin(session)

    def _woke(self, session: str) -> None:
        self._say({"do": "woke", "id": session})
        self._wakes.add(session, time.monotonic() + SILENCE)

    def _say(self, packet: packets.Packet) -> None:
        # The end of the link is noticed when it is read from.
        with contextlib.suppress(OSError):
            packets.send(self._link, packet)


def become(link: socket.socket, trust: Trust) -> None:
    """Run as the dozer, in a process that was forked for it."""
    # A nursery that has ended needs no action.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    dozer = Dozer(link, trust)
    dozer.run()
    link.close()
    Alone(trust, is_resting=dozer.is_resting).run()
