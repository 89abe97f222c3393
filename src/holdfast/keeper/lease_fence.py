"""The keeper's part in leases: it passes on what the host says, and fences by itself.

The host says on its link until when each movable session may speak. The holder
enforces that; the keeper has the same expiry, and freezes the session's cgroup a moment
later, so that a holder that is stopped makes no difference (docs/spec/leases.md, 4.5).
The moment is there so that the holder, which says what it does, is first.
"""

import contextlib
import heapq
import selectors
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from holdfast.keeper.vault import Deposit, Vault
from holdfast.linux.boot_timer import BootTimer
from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.replacements import say
from holdfast.model import holder_orders as orders
from holdfast.model.lease_words import LeaseWord, Movable

GRACE = 0.25
"""Seconds after the expiry: half of what a fence may take."""

AT_ONCE = 100
"""Sessions told of in one packet."""


class LeaseFence:
    """The leases of the sessions that are kept here."""

    def __init__(
        self,
        vault: Vault,
        selector: selectors.BaseSelector,
        tell_host: Callable[[list[Movable]], None],
    ) -> None:
        self._vault = vault
        self._selector = selector
        self.tell_holder: Callable[[str, orders.HolderOrder], None] = _nobody
        """How a session's holder is told something."""

        self.tell_trustee: Callable[[dict[str, float]], None] = lambda _: None
        """How the trustee is told of expiries, which it enforces if we do not."""

        self._tell_host = tell_host
        self._timer: BootTimer | None = None
        self._due: list[tuple[float, str]] = []

    def deposited(self, session: str) -> None:
        """Take that a session was deposited, perhaps again."""
        kept = self._vault.deposits[session]
        if kept.record.authority:
            self._tell_host([_movable(session, kept)])
            if kept.exit is None:
                self._wait_for(session, kept.held.expires)

    def resume(self) -> None:
        """Take that sessions were handed to us by older code."""
        for session in self._vault.deposits:
            self.deposited(session)

    def greet(self) -> None:
        """Tell a new host of every session that is movable."""
        found = [
            _movable(session, kept)
            for session, kept in self._vault.deposits.items()
            if kept.record.authority
        ]
        for start in range(0, len(found), AT_ONCE):
            self._tell_host(found[start : start + AT_ONCE])

    def ended(self, session: str) -> None:
        """Take that a session has ended, but is still listed."""
        kept = self._vault.deposits[session]
        if kept.record.authority:
            self._tell_host([_movable(session, kept)])

    def forgotten(self, session: str) -> None:
        """Take that a session is about to be dropped."""
        kept = self._vault.deposits.get(session)
        if kept is not None and kept.record.authority:
            self._tell_host([_movable(session, kept)._replace(gone=True)])

    def told(self, words: Iterable[LeaseWord]) -> None:
        """Take what the host says about leases."""
        expiries: dict[str, float] = {}
        for word in words:
            kept = self._vault.deposits.get(word.id)
            if kept is None or word.incarnation != kept.record.incarnation:
                continue
            expiries[word.id] = word.expires
            kept.lease(word.expires)
            order = orders.Lease(
                word.incarnation, word.expires, word.why, word.successor
            )
            self.tell_holder(word.id, order)
            if kept.exit is None:
                self._wait_for(word.id, word.expires)
        self.tell_trustee(expiries)

    def _wait_for(self, session: str, expires: float) -> None:
        if self._timer is None:
            self._timer = BootTimer()
            self._selector.register(
                self._timer, selectors.EVENT_READ, lambda *_: self._tick()
            )
        heapq.heappush(self._due, (expires + GRACE, session))
        if self._due[0] == (expires + GRACE, session):
            self._timer.set(self._due[0][0])

    def _tick(self) -> None:
        assert self._timer is not None  # noqa: S101  # it is what has come
        self._timer.clear()
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        while self._due and self._due[0][0] <= now:
            _, session = heapq.heappop(self._due)
            kept = self._vault.deposits.get(session)
            # A lease that was renewed since has another place in the queue.
            is_over = kept is not None and kept.held.expires + GRACE <= now
            if kept is not None and is_over and kept.exit is None:
                hold(session, kept.held.cgroup, "its holder had not done it")
        self._timer.set(self._due[0][0] if self._due else None)


def _nobody(_session: str, _order: orders.HolderOrder) -> None:
    """Tell nobody."""


def _movable(session: str, kept: Deposit) -> Movable:
    record, held = kept.record, kept.held
    return Movable(
        session,
        record.name,
        record.incarnation,
        record.authority,
        held.expires,
        held.leased,
        over=kept.exit is not None,
    )


def hold(session: str, folder: str, why: str) -> None:
    """Make what is in a session's cgroup stand still; say `why` if it did not."""
    if not folder:
        return
    cgroup = SessionCgroup(Path(folder))
    with contextlib.suppress(OSError):
        if not cgroup.is_frozen():
            say("session.fenced", f"{session}: {why}")
        cgroup.hold()
