"""A dozer without a keeper: sessions go on dozing, and still wake.

After `down` it waits for a keeper to knock, gives it everything, and ends. After a
keeper's death it looks for the next one, as the trustee does, and does the same; if
none comes soon, it wakes who has to wake itself.
"""

import contextlib
import selectors
import socket
import time

from holdfast.keeper.doze_watch import Watch
from holdfast.keeper.own_wakes import OwnWakes
from holdfast.keeper.trustee import RETRY, TIMEOUT, HeirSearch, Trust
from holdfast.linux import packets
from holdfast.linux.stored import folders, places
from holdfast.model.errors import HoldfastError

ALONE = 1.0
"""Seconds for a new keeper to come and wake a session: three times what it needs."""


class Alone:
    """What dozes, and no keeper; one that rests does not look for one either."""

    def __init__(self, trust: Trust, *, is_resting: bool) -> None:
        self._trust = trust
        self._is_resting = is_resting
        self._watch = Watch(trust, self._woke)
        self._wakes = OwnWakes(trust, self._watch.selector)
        self._search = HeirSearch(self._give)

    def run(self) -> None:
        """Keep everything until a keeper has it, or a holder."""
        self._watch_all()
        if self._is_resting:
            self._listen()
            self._find_keeper()  # A keeper that came before did not find us.
        while self._trust.copies:
            if not self._is_resting:
                self._search.attempt()
            self._wakes.tick(time.monotonic())
            if self._trust.copies:
                self._watch.wait(self._timeout())
        self._wakes.end()
        if self._is_resting:
            with contextlib.suppress(OSError, HoldfastError):
                places.dozer_socket().unlink()

    def _timeout(self) -> float | None:
        if not self._is_resting:
            return RETRY
        at = self._wakes.next_deadline()
        return None if at is None else max(at - time.monotonic(), 0.0)

    def _listen(self) -> None:
        with contextlib.suppress(OSError, HoldfastError):
            listener = packets.listen(places.dozer_socket())
            listener.settimeout(0)
            self._watch.selector.register(listener, selectors.EVENT_READ, self._knocked)

    def _knocked(self, listener: socket.socket, _events: int) -> None:
        with contextlib.suppress(OSError):
            listener.accept()[0].close()
        self._find_keeper()

    def _find_keeper(self) -> None:
        """Give everything to a keeper, if there is one."""
        with (
            contextlib.suppress(OSError, HoldfastError),
            packets.connect(folders.keeper_address(), TIMEOUT) as link,
        ):
            self._give(link)

    def _give(self, link: socket.socket) -> None:
        for session in self._trust.copies:
            self._watch.end(session)
        try:
            self._trust.hand_over(link)
        finally:
            self._watch_all()

    def _watch_all(self) -> None:
        for session in self._trust.copies:
            if session not in self._wakes:
                self._watch.begin(session)

    def _woke(self, session: str) -> None:
        if self._is_resting:
            self._find_keeper()
        if session in self._trust.copies:
            self._watch.end(session)
            at = time.monotonic() + (0.0 if self._is_resting else ALONE)
            self._wakes.add(session, at)
