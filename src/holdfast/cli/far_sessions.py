"""The sessions of joined hosts, fetched in the background: none delays a key.

Each host is asked in its turn by one of a few threads. What a host said last stays
known, so that the next list begins with it.
"""

import threading
from collections import deque
from collections.abc import Callable

from holdfast.client import hosts, keeper
from holdfast.client.session_location import home_of, settle
from holdfast.model.errors import HoldfastError
from holdfast.model.session_record import SessionRecord

AT_ONCE = 8
"""Hosts asked at the same time: one that does not answer delays no other."""


Ask = Callable[[str], list[SessionRecord]]


class FarSessions:
    """Asks hosts; `found` is called, in another thread, when one has answered."""

    def __init__(self, found: Callable[[], None], ask: Ask | None = None) -> None:
        """Know of nothing yet; `ask` returns the sessions of a host."""
        self.count = 0
        """How many answers, or refusals, have come."""

        self._found = found
        self._ask = ask or _sessions_at
        self._heard: dict[str, list[SessionRecord]] = {}
        self._away: set[str] = set()
        self._asked: set[str] = set()
        self._queue: deque[str] = deque()
        self._threads = 0
        self._changed = threading.Lock()

    def ask(self) -> None:
        """Ask every joined host that is not being asked; do not wait for it."""
        known = [host.name for host in hosts.known()]
        with self._changed:
            self._heard = {name: self._heard.get(name, []) for name in known}
            new = [name for name in known if name not in self._asked]
            self._asked.update(new)
            self._queue += new
            wanted = min(AT_ONCE - self._threads, len(self._queue))
            self._threads += wanted
        for _ in range(wanted):
            # They must not delay leaving.
            threading.Thread(target=self._work, name="hosts", daemon=True).start()

    def listed(self, here: list[SessionRecord]) -> list[SessionRecord]:
        """Return the sessions elsewhere, as far as their hosts have told of them.

        No host has a say in where a session is that we know from elsewhere: one that
        is among those `here`, or was found at another host, is left out.
        """
        with self._changed:
            told = [one for host in sorted(self._heard) for one in self._heard[host]]
        ours = {one.id for one in here}
        found = []
        for one in told:
            if one.id not in ours and home_of(one.id) in ("", one.host):
                settle(one.id, one.host)
                found.append(one)
        return found

    def told(self) -> str:
        """Return which hosts have not answered, for people."""
        with self._changed:
            asked, away = sorted(self._asked), sorted(self._away - self._asked)
        parts = [f"asking {', '.join(asked)}"] if asked else []
        parts += [f"no answer from {', '.join(away)}"] if away else []
        return "; ".join(parts)

    def _work(self) -> None:
        while (name := self._next()) is not None:
            try:
                heard = self._ask(name)
            except (HoldfastError, OSError):
                heard = None
            with self._changed:
                self._asked.discard(name)
                if heard is None:
                    self._away.add(name)
                else:
                    self._heard[name] = heard
                    self._away.discard(name)
                self.count += 1
            self._found()

    def _next(self) -> str | None:
        with self._changed:
            if self._queue:
                return self._queue.popleft()
            self._threads -= 1
            return None


def _sessions_at(host: str) -> list[SessionRecord]:
    return keeper.sessions(host=host, look=True)
