"""The holder's link to the keeper: deposits what must outlive us, again and again.

When the keeper dies the session does not notice; but as long as there is none,
our own death would end it. So the link is made again at once, and a keeper is
started if nobody else has.
"""

import contextlib
import os
import random
import selectors
import time
from socket import socket  # noqa: TC003  # an annotation people read

from holdfast.holder.vaulted import Vaulted
from holdfast.linux import packets, places, start

RETRY = 0.1
"""Seconds between attempts to find a keeper."""

TIMEOUT = 5.0


class KeeperLink:
    """Our side of the link."""

    def __init__(self, vaulted: Vaulted, selector: selectors.BaseSelector) -> None:
        self.is_wanted = True
        """False once the session has been forgotten."""

        self._vaulted = vaulted
        self._selector = selector
        self._link: socket | None = None
        self._again_at: float | None = None
        self._exit: object = None
        self._attempts = 0

    def begin(self, token: str) -> None:
        """Deposit for the first time.

        A keeper that has died since it had us made is looked for later: we hold
        everything the session needs, and must not die of its death.
        """
        try:
            self.deposit(token)
        except OSError:
            self._again_at = time.monotonic()

    def deposit(self, token: str = "") -> None:
        """Give the keeper a copy of everything; `token` answers a creation."""
        link = packets.connect(places.keeper_socket(), TIMEOUT)
        packet: packets.Packet = {
            "do": "deposit",
            "id": self._vaulted.session,
            "facts": {**self._vaulted.facts, "holder": os.getpid()},
            "token": token,
            "exit": self._exit,
        }
        packets.send(link, packet, self._vaulted.fds())
        if packets.receive(link) is None:
            link.close()
            raise ConnectionResetError("the keeper hung up")
        link.settimeout(0)
        self._link, self._again_at, self._attempts = link, None, 0
        self._selector.register(link, selectors.EVENT_READ, self._heard)

    def change(self, facts: packets.Packet) -> None:
        """Tell the keeper what has changed."""
        for name in ("name", "state", "size"):
            if name in facts:
                self._vaulted.facts[name] = facts[name]
        # Kept here too: there may be no keeper at this moment.
        self._exit = facts.get("exit", self._exit)
        if self._link is not None:
            packet = {"do": "facts", "id": self._vaulted.session, **facts}
            with contextlib.suppress(OSError):
                packets.send(self._link, packet)

    def next_deadline(self) -> float | None:
        """Return when to look for a keeper again, or None while there is one."""
        return self._again_at

    def tick(self, now: float) -> None:
        """Look for a keeper, if it is time."""
        if self._again_at is None or now < self._again_at:
            return
        self._attempts += 1
        try:
            self.deposit()
        except OSError:
            # One of many holders is enough; a keeper too many ends by itself.
            if self._attempts % 10 == 1:
                start.start_keeper()
            self._again_at = now + RETRY * random.uniform(0.5, 1.5)  # noqa: S311  # jitter

    def _heard(self) -> None:
        assert self._link is not None  # noqa: S101  # it is what was heard
        try:
            heard = packets.receive(self._link)
        except BlockingIOError:
            return
        if heard is not None:
            self._obey(heard[0])
            return
        self._selector.unregister(self._link)
        self._link.close()
        self._link = None
        self._again_at = time.monotonic()

    def _obey(self, packet: packets.Packet) -> None:
        match packet.get("do"):
            case "forget":
                self.is_wanted = False
            case "changed":
                for name in ("name", "keep"):
                    self._vaulted.facts[name] = packet[name]
            case _:
                pass  # The answer to something we said.
