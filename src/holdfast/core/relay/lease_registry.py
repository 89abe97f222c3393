"""Which host may speak for which session, and where operators are routed.

Theory of operation
-------------------
The relay's side of core/relay/lease.py, for many sessions. A question either renews
(the holder names its incarnation) or claims (it names none and wants the next).
A renewal is answered from memory. A claim is answered only after the relay's
own clock says that the former lease has run out on every clock, and after the
new incarnation and its host are durable.

    FREE ──claim──▶ PENDING ──Persisted──▶ HELD ──expiry──▶ LAPSED ──claim──▶ …
                       │                   │ ▲                │
                       └──PersistFailed    │ └────renewal─────┘
                                           └─Released──▶ FREE for the next claim

Invariants, checked by tests/core/relay/test_lease_registry_properties.py, and from
the hosts' side by test_lease_properties.py:

I1  A claim is granted only when relay_span(ttl) has passed since the last
    answer to the former holder, or the former holder has released it.
I2  An incarnation is granted to one host, once made durable for that host;
    numbers never repeat and never go down, restarts included.
I3  Nobody is routed to a lease that is expired, invalidated, released or not
    renewed since this relay started; read from `now` at every question.
I4  A renewal writes nothing: a full disk stops claims, not sessions.
I5  At most one claim of a session is being decided at any moment.
I6  Proof that we forgot an incarnation stops every decision about
    that session: two lives are worse than none.
I7  Every question is answered exactly once.
I8  After a restart nobody speaks again who had fallen silent, before every lease
    that may have been given out earlier has run out.
I9  A renewal of a session that we do not know is granted only to a host that speaks,
    within the first span; or after it, if the store was empty when we started.

After a restart we know who held what, but not since when. So each lease counts
as answered at the moment of the restart, and none is routed before its holder
has spoken. The ttl is part of the record: a relay that starts with a shorter
one must still wait for the leases of the longer one.

A store that is lost altogether names nobody (I9). Who says within the first span that
it speaks is believed and written down, since no two can; after that span nobody can
speak any more by what was given out earlier, and the first who renews is taken up, as
long as we began with nothing at all. A host that knows of a later life proves it (I6).

I8 is for a store that is older than it should be, a restored backup say. Such a
store may name a former holder. If that one asks before the real one does, it
would speak beside it. So within the first span a renewal counts only from a
host whose lease has not run out. Two of those cannot be; and the real holder,
if it lives, renews within that span and proves what we forgot (I6).
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from holdfast.core.relay.lease import NEVER_LIVED, relay_span
from holdfast.model import errors
from holdfast.model.ids import HostId, Incarnation, SessionId, next_incarnation

TTL = 20.0
"""Seconds of a lease: how long a partition may last unnoticed, and how long a
re-home must wait at the least."""

MAX_SESSIONS = 100_000
"""Sessions we keep leases for; at the bound new ones are refused."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is durable about one session's lease."""

    session: SessionId
    host: HostId
    incarnation: Incarnation
    ttl: float
    is_invalidated: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """Where a session's operators are to be joined to."""

    host: HostId
    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Asked:
    """A host that may hold `session` wants a lease.

    With an incarnation it renews, and `is_speaking` says that its lease has not
    run out; with None it claims the next one, and `seen`
    is the highest it knows to have lived (NEVER_LIVED for a new session).
    """

    session: SessionId
    host: HostId
    incarnation: Incarnation | None
    ask_id: int
    seen: Incarnation = NEVER_LIVED
    is_speaking: bool = False


@dataclass(frozen=True, slots=True)
class Released:
    """The holder has fenced itself and lets go."""

    session: SessionId
    host: HostId
    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Invalidated:
    """An operator has given up on the host that holds the lease."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Ended:
    """The holder says that the session is over for good."""

    session: SessionId
    host: HostId
    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Persisted:
    """The record of `token` is on stable storage."""

    token: int


@dataclass(frozen=True, slots=True)
class PersistFailed:
    """The record of `token` is known not to be on stable storage.

    A store that cannot tell must not say this: the relay stops, and learns what
    was written when it starts again.
    """

    token: int


@dataclass(frozen=True, slots=True)
class Persist:
    """Write `record` in place of the session's former one, in order, and say so."""

    token: int
    record: Record


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete the session's record."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Grant:
    """Answer a question with a lease."""

    session: SessionId
    host: HostId
    incarnation: Incarnation
    ttl: float
    ask_id: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer a question with a no, and why."""

    ask_id: int
    error: errors.HoldfastError


@dataclass(frozen=True, slots=True)
class Unroute:
    """Cut every operator's channel to the session."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class ReportRollback:
    """Raise the alarm: a host has lived as `seen`, and our store says `known`."""

    session: SessionId
    seen: Incarnation
    known: Incarnation


Event = Asked | Released | Invalidated | Ended | Persisted | PersistFailed
Effect = Persist | Forget | Grant | Refuse | Unroute | ReportRollback


@dataclass(slots=True)
class _Lease:
    record: Record
    expires_at: float
    tried: Incarnation
    is_routed: bool = False
    is_released: bool = False
    is_queued: bool = False
    is_unproven: bool = False
    pending: tuple[Asked, Record] | None = None
    forgotten: Incarnation = NEVER_LIVED

    @property
    def known(self) -> Incarnation:
        return self.record.incarnation

    def is_held_by(self, host: HostId, incarnation: Incarnation | None) -> bool:
        return self.record.host == host and self.known == incarnation


class LeaseRegistry:
    """The relay's side of every lease."""

    def __init__(
        self,
        records: Iterable[Record],
        now: float,
        *,
        ttl: float = TTL,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        self._ttl = ttl
        self._proving_until = now + relay_span(max(ttl, TTL))
        """Until when a lease that an earlier relay process granted may last."""

        self._max_sessions = max_sessions
        self._token = 0
        self._deciding: dict[int, _Lease] = {}
        self._expiries: list[tuple[float, SessionId]] = []
        self._leases = {
            record.session: _Lease(
                record,
                now + relay_span(record.ttl),
                record.incarnation,
                is_unproven=True,
            )
            for record in records
        }
        self._began_empty = not self._leases

    def route(self, session: SessionId, now: float) -> Route | None:
        """Return where `session` speaks now, or None if nobody may."""
        lease = self._leases.get(session)
        if lease is None or not lease.is_routed or now >= lease.expires_at:
            return None
        return Route(lease.record.host, lease.record.incarnation)

    def routed_count(self, now: float) -> int:
        """Return how many sessions somebody may speak for now."""
        leases = self._leases.values()
        return sum(one.is_routed and now < one.expires_at for one in leases)

    def holder(self, session: SessionId) -> HostId | None:
        """Return the last host that `session` was given to; None if to none."""
        lease = self._leases.get(session)
        return None if lease is None else lease.record.host

    def superseded(
        self, session: SessionId, incarnation: Incarnation, now: float
    ) -> errors.LeaseHeld | None:
        """Return what the holder of an earlier incarnation is told; None if it is not.

        Also who may not ask any more has to learn that its life is over.
        """
        lease = self._leases.get(session)
        if lease is None or not NEVER_LIVED < incarnation < lease.known:
            return None
        return self._held(lease, now)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what a host, an operator or the store said."""
        match event:
            case Asked():
                return self._answer(event, now)
            case Released():
                return self._release(event)
            case Invalidated():
                return self._invalidate(event.session)
            case Ended():
                return self._end(event)
            case Persisted():
                return self._settle(event.token, now)
            case PersistFailed():  # pragma: no branch
                return self._abandon(event.token)

    def tick(self, now: float) -> list[Effect]:
        """Cut the routes that ran out. Call it at or after `next_deadline()`."""
        effects: list[Effect] = []
        while self._expiries and self._expiries[0][0] <= now:
            _, session = heapq.heappop(self._expiries)
            lease = self._leases.get(session)
            if lease is None:
                continue
            lease.is_queued = False
            if lease.is_routed and lease.expires_at > now:
                self._queue(lease)
            else:
                effects += _unroute(lease)
        return effects

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        return self._expiries[0][0] if self._expiries else None

    def _answer(self, asked: Asked, now: float) -> list[Effect]:
        lease = self._leases.get(asked.session)
        known = NEVER_LIVED if lease is None else lease.known
        seen = max(asked.seen, asked.incarnation or NEVER_LIVED)
        if lease is None and asked.incarnation == seen and self._believes(asked, now):
            return self._claim(asked, None, now)
        if seen > known:
            return self._distrust(asked, lease, seen)
        if lease is not None and lease.forgotten:
            return [Refuse(asked.ask_id, errors.RolledBack(lease.forgotten, known))]
        if lease is None or asked.incarnation is None:
            return self._claim(asked, lease, now)
        return self._renew(asked, lease, now)

    def _believes(self, asked: Asked, now: float) -> bool:
        """Tell whether a host may renew what was forgotten with all else."""
        is_first_span = now < self._proving_until
        return asked.is_speaking if is_first_span else self._began_empty

    def _distrust(
        self, asked: Asked, lease: _Lease | None, seen: Incarnation
    ) -> list[Effect]:
        # A session we do not know at all is not remembered here: anyone could
        # fill the registry. Nothing is lost by that, because an honest claim
        # says what it has seen and is refused for it again.
        known = NEVER_LIVED if lease is None else lease.known
        effects: list[Effect] = [Refuse(asked.ask_id, errors.RolledBack(seen, known))]
        if lease is None or seen > lease.forgotten:
            effects.append(ReportRollback(asked.session, seen, known))
        if lease is not None:
            lease.forgotten = max(seen, lease.forgotten)
            effects += _unroute(lease)
        return effects

    def _renew(self, asked: Asked, lease: _Lease, now: float) -> list[Effect]:
        if not lease.is_held_by(asked.host, asked.incarnation):
            return [Refuse(asked.ask_id, self._held(lease, now))]
        if lease.is_unproven and not asked.is_speaking and now < lease.expires_at:
            return [Refuse(asked.ask_id, self._held(lease, now))]
        is_void = lease.is_released or lease.record.is_invalidated
        if is_void or lease.pending is not None:
            return [Refuse(asked.ask_id, errors.LeaseLost(lease.known))]
        return [self._grant(asked, lease, now)]

    def _claim(self, asked: Asked, lease: _Lease | None, now: float) -> list[Effect]:
        if lease is None:
            if len(self._leases) >= self._max_sessions:
                return [
                    Refuse(asked.ask_id, errors.TooManySessions(self._max_sessions))
                ]
            lease = self._leases[asked.session] = self._unborn(asked, now)
        is_held = not lease.is_released and now < lease.expires_at
        if is_held or lease.pending is not None:
            return [Refuse(asked.ask_id, self._held(lease, now))]
        # A renewal comes here only of what is not known: it keeps its number.
        lease.tried = asked.incarnation or next_incarnation(lease.tried)
        record = Record(asked.session, asked.host, lease.tried, self._ttl)
        lease.pending = (asked, record)
        persist = self._persist(record)
        self._deciding[persist.token] = lease
        return [persist]

    def _unborn(self, asked: Asked, now: float) -> _Lease:
        record = Record(asked.session, asked.host, NEVER_LIVED, self._ttl)
        return _Lease(record, now, NEVER_LIVED, is_released=True)

    def _grant(self, asked: Asked, lease: _Lease, now: float) -> Effect:
        record = lease.record
        lease.expires_at = now + relay_span(record.ttl)
        lease.is_routed, lease.is_unproven = True, False
        if not lease.is_queued:
            self._queue(lease)
        return Grant(
            record.session, record.host, record.incarnation, record.ttl, asked.ask_id
        )

    def _held(self, lease: _Lease, now: float) -> errors.LeaseHeld:
        # The incarnation is the durable one, never the one being decided: what
        # a refusal names has lived, and is granted to nobody who is told of it.
        host, wait = lease.record.host, max(lease.expires_at - now, 0.0)
        if lease.pending is not None:
            host, wait = lease.pending[1].host, relay_span(self._ttl)
        return errors.LeaseHeld(host, lease.known, math.ceil(wait * 1000))

    def _settle(self, token: int, now: float) -> list[Effect]:
        lease = self._deciding.pop(token, None)
        if lease is None or lease.pending is None:
            return []  # The token of an invalidation, which nobody waits for.
        (asked, lease.record), lease.pending = lease.pending, None
        lease.is_released = False
        # The wait for the disk may have been long; the clock is read after it.
        lease.expires_at = now + relay_span(lease.record.ttl)
        if lease.forgotten:
            error = errors.RolledBack(lease.forgotten, lease.known)
            return [Refuse(asked.ask_id, error)]
        return [self._grant(asked, lease, now)]

    def _abandon(self, token: int) -> list[Effect]:
        lease = self._deciding.pop(token, None)
        if lease is None or lease.pending is None:
            return []
        (asked, _), lease.pending = lease.pending, None
        if lease.known == NEVER_LIVED:
            del self._leases[asked.session]
        return [Refuse(asked.ask_id, errors.StoreFailed(asked.session))]

    def _release(self, event: Released) -> list[Effect]:
        lease = self._leases.get(event.session)
        if lease is None or not lease.is_held_by(event.host, event.incarnation):
            return []
        lease.is_released = True
        return _unroute(lease)

    def _invalidate(self, session: SessionId) -> list[Effect]:
        lease = self._leases.get(session)
        if lease is None or lease.record.is_invalidated:
            return []
        lease.record = replace(lease.record, is_invalidated=True)
        effects = _unroute(lease)
        if lease.pending is None:  # Else this would overwrite the next incarnation.
            effects.append(self._persist(lease.record))
        return effects

    def _end(self, event: Ended) -> list[Effect]:
        lease = self._leases.get(event.session)
        if lease is None or not lease.is_held_by(event.host, event.incarnation):
            return []
        if lease.pending is not None or lease.forgotten:
            return []
        del self._leases[event.session]
        return [*_unroute(lease), Forget(event.session)]

    def _persist(self, record: Record) -> Persist:
        self._token += 1
        return Persist(self._token, record)

    def _queue(self, lease: _Lease) -> None:
        # One place in the queue for each session: a renewal moves the expiry,
        # and the place is moved when its turn comes.
        lease.is_queued = True
        heapq.heappush(self._expiries, (lease.expires_at, lease.record.session))


def _unroute(lease: _Lease) -> list[Effect]:
    if not lease.is_routed:
        return []
    lease.is_routed = False
    return [Unroute(lease.record.session)]
