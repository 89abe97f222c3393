"""Decides when a session has been idle for long enough to doze.

Theory of operation
-------------------
A session that nobody uses needs no process of its own (docs/spec/keeper.md, 13). But
to let it doze and to wake it costs a tenth of a second of processor time, so one that
prints every few seconds is better left awake.

The session is looked at now and then. What a look shows is a `Glimpse`: how far the
stream and the logbook have come, and whether anything speaks against dozing at this
moment. Two equal glimpses, a whole *patience* apart, mean that nothing happened.

    AWAKE ──two equal glimpses, free──▶ asks to doze ──granted──▶ ASLEEP
      ▲                                     │                       │
      ├────────────refused──────────────────┘                       │
      └──────────── something came, and a holder with it ◀──────────┘

What outlives the holder is a `Nap`. A holder that was woken goes on with it: if nothing
but a question woke it, the last glimpse still holds, and it dozes again after a short
*linger*. A session that slept for less than the patience was not worth its wake, and
waits twice as long the next time; one that slept longer waits as at first.

Invariants, each checked by tests/core/session/test_doze.py:

I1  A session dozes only while it is free.
I2  It dozes only after a patience without any change, but for one that was woken and
    in which nothing has changed since it fell asleep.
I3  The patience lies between the first one and LONGEST times as much.
I4  A session that changes at a steady pace stops dozing after a bounded number of
    wakes, or sleeps at least as long as it waits.
"""

from typing import NamedTuple

LONGEST = 32
"""How many times the first patience is waited at most: a quarter of an hour, with
the usual one."""

LINGER = 1 / 6
"""Part of the patience for which a session that was woken for nothing stays awake:
who has asked one thing may ask another."""


class Glimpse(NamedTuple):
    """How far a session has come, and whether it could doze now."""

    offset: int
    entries: int
    is_free: bool = True


class Nap(NamedTuple):
    """What is known of a session when it falls asleep."""

    at: float
    """By a clock that all processes of a machine share."""

    patience: float
    offset: int
    entries: int
    since: float
    """When the last change was seen, by the same clock."""


class DozeTimer:
    """When one session dozes; `first` is how long it must be idle, at first."""

    def __init__(self, first: float, now: float, nap: Nap | None = None) -> None:
        self._first = first
        self._seen: Glimpse | None = None
        self._since = now
        self.patience = first
        self._look_at = now + first
        if nap is not None:
            self._wake(nap, now)

    def next_deadline(self) -> float:
        """Return when to call `look`."""
        return self._look_at

    def look(self, seen: Glimpse, now: float) -> bool:
        """Take a glimpse; return whether to ask for leave to doze."""
        is_same = seen == self._seen
        if not is_same:
            self._seen, self._since = seen, now
        self._look_at = now + self.patience
        return is_same and seen.is_free

    def nap(self, now: float) -> Nap:
        """Return what the next holder has to know; after `look` has said so."""
        seen = self._seen or Glimpse(0, 0)
        return Nap(now, self.patience, seen.offset, seen.entries, self._since)

    def _wake(self, nap: Nap, now: float) -> None:
        # A clock that went backwards, or another's setting, makes nothing worse.
        waited = min(max(nap.patience, self._first), self._first * LONGEST)
        if now - nap.at < waited:
            self.patience = min(waited * 2, self._first * LONGEST)
        self._seen, self._since = Glimpse(nap.offset, nap.entries), nap.since
        self._look_at = now + self.patience * LINGER
