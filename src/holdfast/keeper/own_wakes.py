"""Wakes sessions without a keeper: a nursery is started for it, and ends again.

A keeper has one, and is told first. But it may hang, or be gone and kept from coming
back, or have been told to end; a client that wants to reach a session then must still
find a holder there. The holder that is made rests: it needs no keeper, and deposits
with the next one that knocks.
"""

import selectors
import time
from typing import Final

from holdfast.keeper import code
from holdfast.keeper.nursery import Nursery
from holdfast.keeper.trustee import Trust
from holdfast.linux import packets

AGAIN: Final = 1.0
"""Seconds after which a nursery that could not be started, or died, is tried again."""


class OwnWakes:
    """The sessions that are to be woken, and the nursery for them."""

    def __init__(self, trust: Trust, selector: selectors.BaseSelector) -> None:
        self._trust = trust
        self._selector = selector
        self._due: dict[str, float] = {}
        self._asked: set[str] = set()
        """Sessions whose holders are on their way."""

        self._nursery: Nursery | None = None
        self._again_at = 0.0

    def add(self, session: str, at: float) -> None:
        """Wake a session at that time, unless it is discarded before."""
        self._due.setdefault(session, at)

    def discard(self, session: str) -> None:
        """Note that another process takes care of a session."""
        self._due.pop(session, None)
        self._asked.discard(session)

    def __contains__(self, session: object) -> bool:
        """Tell whether a session is woken already, or about to be."""
        return session in self._due or session in self._asked

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        first = min(self._due.values(), default=None)
        return None if first is None else max(first, self._again_at)

    def tick(self, now: float) -> None:
        """Fork the holders that are due."""
        found = [session for session, at in self._due.items() if now >= at]
        if not found or now < self._again_at:
            return
        if self._nursery is None and not self._start():
            self._again_at = now + AGAIN
            return
        for session in found:
            if session not in self._trust.copies:
                del self._due[session]
            elif self._ask(session):
                del self._due[session]
                self._asked.add(session)
            else:
                self._again_at = now + AGAIN

    def end(self) -> None:
        """End the nursery; the holders it has forked live on."""
        if self._nursery is not None:
            self._nursery.end()
            self._nursery = None

    def _start(self) -> bool:
        nursery = Nursery(code.present(), self._selector, self._heard, self._died)
        try:
            nursery.start()
        except OSError:
            return False
        self._nursery = nursery
        return True

    def _ask(self, session: str) -> bool:
        copy = self._trust.copies[session]
        packet: packets.Packet = {
            "do": "adopt",
            "id": session,
            "facts": {**copy.facts, "dozing": False, "idle_ms": 0},
            "exit": copy.exit,
            "resting": True,
        }
        return self._nursery is not None and self._nursery.ask(packet, copy.fds)

    def _heard(self, _nursery: Nursery, packet: packets.Packet, fds: list[int]) -> None:
        packets.close(fds)
        said, session = packet.get("do"), str(packet.get("key"))
        if said not in ("forked", "stillborn"):
            return
        if session in self._asked:
            self._asked.discard(session)
            if said == "forked":
                self._trust.drop(session)  # Its holder has all of it.
            else:
                self._due[session] = time.monotonic() + AGAIN
        if not self._asked and not self._due:
            self.end()

    def _died(self, _nursery: Nursery) -> None:
        self._nursery = None
        self._again_at = time.monotonic() + AGAIN
        for session in self._asked:
            self._due[session] = 0.0
        self._asked.clear()
