"""Who is joined with whom at the relay, and who is turned away.

Theory of operation
-------------------
A host has one link to the relay, over which it says whom it admits and which
sessions are with it, and hears of knocks. An operator asks for a host, or for a
session by its id. If that host admits it, the host is sent a ticket; it dials a
link of its own for this operator and shows the ticket, and the two links are
joined. Everything that is known of a link here, its key included, was proven
before.

    operator  ──asks──▶ WAITING ──host meets──▶ JOINED
                 │         └──expiry──▶ refused: host-silent
                 └──▶ refused: not-reachable

Invariants, checked by tests/core/relay/test_peer_joins.py and
test_peer_joins_properties.py:

I1  A link is joined with one other at most, and only with a link of the host
    that admitted the operator when it asked.
I2  A ticket is good once, for TICKET_TTL, and for the host it was made for.
I3  A peer that is not admitted learns the same as one that asks for no host at all:
    unknown, absent and unwilling hosts are one refusal.
I4  Nothing grows beyond its limit; at a limit the newcomer is refused, and
    nobody who is here is touched.
I5  Of two links that prove one host's key, the later is the host's; the earlier
    is told so and hung up. Joined pairs go on. Waiting knocks are repeated.
I6  Every question is answered exactly once, by a join or a refusal, unless the
    asker left first.
I7  While draining nobody is taken in any more.
I8  When one link of a pair is gone, the other is cut.
"""

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NewType

from holdfast.model import errors
from holdfast.model.ids import ActorId, HostId, SessionId

Link = NewType("Link", int)
"""One connection, by a number that is never used again."""

TICKET_TTL = 10.0
"""Seconds a host has for its dial-back: several round trips and a handshake."""

LINKS_OF_KEY = "links of one key"
LINKS_OF_HOST = "operators of one host"
KNOCKS_OF_KEY = "knocks of one key"
KNOCKS_AT_HOST = "knocks at one host"
_LINKS = (LINKS_OF_KEY, LINKS_OF_HOST)
_KNOCKS = (KNOCKS_OF_KEY, KNOCKS_AT_HOST)
_OF_KEY = (LINKS_OF_KEY, KNOCKS_OF_KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a relay takes in."""

    hosts: int = 2_000
    operators: int = 10_000
    per_actor: int = 64
    per_host: int = 2_000
    knocks_per_host: int = 256
    knocks_per_actor: int = 16
    admitted: int = 4_096
    sessions_per_host: int = 4_096
    sessions: int = 100_000
    """Sessions published in all; with the ids of hosts this is the directory."""


# ── events ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Registered:
    """A host proved its key on `link`."""

    link: Link
    host: HostId


@dataclass(frozen=True, slots=True)
class Admitted:
    """A host said whom it takes; with `resets`, nobody else any more."""

    link: Link
    actors: tuple[ActorId, ...]
    invites: tuple[bytes, ...]
    resets: bool = False


@dataclass(frozen=True, slots=True)
class Dismissed:
    """A host said whom it takes no longer."""

    link: Link
    actors: tuple[ActorId, ...]
    invites: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """A host said which sessions are with it."""

    link: Link
    added: tuple[SessionId, ...]
    removed: tuple[SessionId, ...] = ()
    resets: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """An operator proved its key on `link` and wants `target`.

    For a session with a lease, `is_leased`, and `leased_to` is who holds it now,
    if any host does; what hosts publish does not count then. `ticket` is fresh
    and random.
    """

    link: Link
    actor: ActorId
    target: HostId | SessionId
    invite: bytes
    ticket: bytes
    is_leased: bool = False
    leased_to: HostId | None = None


@dataclass(frozen=True, slots=True)
class Met:
    """A host proved its key on `link` and shows a ticket."""

    link: Link
    host: HostId
    ticket: bytes


@dataclass(frozen=True, slots=True)
class Left:
    """A link is gone."""

    link: Link


@dataclass(frozen=True, slots=True)
class Unrouted:
    """Nobody may be joined with this session through its lease any more."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Drained:
    """The relay is to be stopped."""


# ── effects ───────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Knock:
    """Tell the host at `link` that an operator wants to reach it."""

    link: Link
    ticket: bytes
    actor: ActorId
    target: HostId | SessionId
    invite: bytes


@dataclass(frozen=True, slots=True)
class Join:
    """Let the two links speak with each other."""

    operator: Link
    dialled: Link
    host: HostId


@dataclass(frozen=True, slots=True)
class Refuse:
    """Say no, and hang up."""

    link: Link
    error: errors.HoldfastError


@dataclass(frozen=True, slots=True)
class Cut:
    """Hang up on a link whose other end is gone, after what waits is sent."""

    link: Link


@dataclass(frozen=True, slots=True)
class Warn:
    """Tell a host that the relay is about to be stopped."""

    link: Link


Event = (
    Registered
    | Admitted
    | Dismissed
    | Published
    | Asked
    | Met
    | Left
    | Unrouted
    | Drained
)
Effect = Knock | Join | Refuse | Cut | Warn


@dataclass(slots=True)
class _Host:
    link: Link
    actors: set[ActorId] = field(default_factory=set)
    invites: set[bytes] = field(default_factory=set)
    sessions: set[SessionId] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Waiting:
    asked: Asked
    host: HostId
    expires_at: float


@dataclass(frozen=True, slots=True)
class _Pair:
    operator: Link
    dialled: Link
    actor: ActorId
    host: HostId
    leased: SessionId | None


@dataclass(frozen=True, slots=True)
class Stats:
    """How many are here."""

    hosts: int
    waiting: int
    pairs: int
    sessions: int


class PeerJoins:
    """All peers of one relay."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._hosts: dict[HostId, _Host] = {}
        self._host_links: dict[Link, HostId] = {}
        # In the order in which hosts published it: the first who admits counts.
        self._directory: dict[SessionId, list[HostId]] = {}
        self._waiting: dict[bytes, _Waiting] = {}
        self._tickets: dict[Link, bytes] = {}
        self._expiries: list[tuple[float, bytes]] = []
        self._pairs: dict[Link, _Pair] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._is_draining = False

    def stats(self) -> Stats:
        """Return how many are here."""
        return Stats(
            len(self._hosts),
            len(self._waiting),
            len(self._pairs) // 2,
            sum(map(len, self._directory.values())),
        )

    def host_of(self, link: Link) -> HostId | None:
        """Return whose link this is, if it is a host's."""
        return self._host_links.get(link)

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        return self._expiries[0][0] if self._expiries else None

    def tick(self, now: float) -> list[Effect]:
        """Send away who waited in vain. Call it at or after `next_deadline()`."""
        effects: list[Effect] = []
        while self._expiries and self._expiries[0][0] <= now:
            _, ticket = heapq.heappop(self._expiries)
            waiting = self._waiting.get(ticket)
            if waiting is not None:
                self._forget(waiting)
                error = errors.HostSilent(waiting.asked.target)
                effects.append(Refuse(waiting.asked.link, error))
        return effects

    def handle(self, event: Event, now: float) -> list[Effect]:  # noqa: C901, PLR0911  # one line for each event
        """Take what a peer or the process said."""
        match event:
            case Registered():
                return self._register(event)
            case Admitted():
                return self._admit(event)
            case Dismissed():
                return self._dismiss(event)
            case Published():
                return self._publish(event)
            case Asked():
                return self._ask(event, now)
            case Met():
                return self._meet(event, now)
            case Left():
                return self._leave(event.link)
            case Unrouted():
                return self._unroute(event.session)
            case Drained():  # pragma: no branch
                return self._drain()

    # ── hosts ─────────────────────────────────────────────────────────────

    def _register(self, event: Registered) -> list[Effect]:
        if self._is_draining:
            return [Refuse(event.link, errors.RelayLeaving())]
        former = self._hosts.get(event.host)
        if former is None and len(self._hosts) >= self._limits.hosts:
            return [Refuse(event.link, errors.RelayFull("hosts", self._limits.hosts))]
        effects: list[Effect] = []
        if former is not None:
            self._unregister(event.host, former)
            effects.append(Refuse(former.link, errors.HostReplaced(event.host)))
        self._hosts[event.host] = _Host(event.link)
        self._host_links[event.link] = event.host
        return effects + self._knock_again(event)

    def _knock_again(self, event: Registered) -> list[Effect]:
        # The knocks may have been lost with the former link.
        return [
            _knock(event.link, waiting.asked)
            for waiting in self._waiting.values()
            if waiting.host == event.host
        ]

    def _admit(self, event: Admitted) -> list[Effect]:
        host = self._host_at(event.link)
        if host is None:
            return []
        actors = set(event.actors) | (set() if event.resets else host.actors)
        invites = set(event.invites) | (set() if event.resets else host.invites)
        if len(actors) + len(invites) > self._limits.admitted:
            error = errors.RelayFull("admitted keys of one host", self._limits.admitted)
            return self._expel(event.link, error)
        host.actors, host.invites = actors, invites
        return []

    def _dismiss(self, event: Dismissed) -> list[Effect]:
        host = self._host_at(event.link)
        if host is not None:
            host.actors.difference_update(event.actors)
            host.invites.difference_update(event.invites)
        return []

    def _publish(self, event: Published) -> list[Effect]:
        name, host = self._host_links.get(event.link), self._host_at(event.link)
        if name is None or host is None:
            return []
        for session in list(host.sessions) if event.resets else event.removed:
            self._unpublish(name, host, session)
        added = set(event.added) - host.sessions
        if len(host.sessions) + len(added) > self._limits.sessions_per_host:
            limit = self._limits.sessions_per_host
            return self._expel(
                event.link, errors.RelayFull("sessions of one host", limit)
            )
        if len(self._directory) + len(added) > self._limits.sessions:
            error = errors.RelayFull("sessions", self._limits.sessions)
            return self._expel(event.link, error)
        for session in added:
            host.sessions.add(session)
            self._directory.setdefault(session, []).append(name)
        return []

    def _expel(self, link: Link, error: errors.HoldfastError) -> list[Effect]:
        return [Refuse(link, error), *self._leave(link)]

    def _unpublish(self, name: HostId, host: _Host, session: SessionId) -> None:
        if session not in host.sessions:
            return
        host.sessions.discard(session)
        self._directory[session].remove(name)
        if not self._directory[session]:
            del self._directory[session]

    def _unregister(self, name: HostId, host: _Host) -> None:
        for session in list(host.sessions):
            self._unpublish(name, host, session)
        del self._hosts[name]
        del self._host_links[host.link]

    def _host_at(self, link: Link) -> _Host | None:
        name = self._host_links.get(link)
        return None if name is None else self._hosts[name]

    # ── operators ─────────────────────────────────────────────────────────

    def _ask(self, asked: Asked, now: float) -> list[Effect]:
        if self._is_draining:
            return [Refuse(asked.link, errors.RelayLeaving())]
        name = self._answering(asked)
        if name is None:
            return [Refuse(asked.link, errors.NotReachable(asked.target))]
        if full := self._full(asked, name):
            return [Refuse(asked.link, full)]
        waiting = _Waiting(asked, name, now + TICKET_TTL)
        self._waiting[asked.ticket] = waiting
        self._tickets[asked.link] = asked.ticket
        self._count(asked.actor, name, (*_LINKS, *_KNOCKS), 1)
        heapq.heappush(self._expiries, (waiting.expires_at, asked.ticket))
        return [_knock(self._hosts[name].link, asked)]

    def _answering(self, asked: Asked) -> HostId | None:
        """Return the host that is here, has the target and admits the asker."""
        for name in self._having(asked):
            host = self._hosts.get(name)
            if host is None:
                continue
            if asked.actor in host.actors or (
                asked.invite and asked.invite in host.invites
            ):
                return name
        return None

    def _having(self, asked: Asked) -> Iterable[HostId]:
        if asked.target.startswith("h_"):
            return [HostId(asked.target)]
        if asked.is_leased:
            return [] if asked.leased_to is None else [asked.leased_to]
        return self._directory.get(SessionId(asked.target), ())

    def _full(self, asked: Asked, host: HostId) -> errors.RelayFull | None:
        # Looked for only after the asker proved to be admitted: else a full
        # host could be told from an absent one (I3).
        limits = self._limits
        counts = self._counts
        taken = len(self._pairs) // 2 + len(self._waiting)
        for what, count, limit in (
            ("operators", taken, limits.operators),
            (LINKS_OF_KEY, counts[LINKS_OF_KEY, asked.actor], limits.per_actor),
            (LINKS_OF_HOST, counts[LINKS_OF_HOST, host], limits.per_host),
            (
                KNOCKS_OF_KEY,
                counts[KNOCKS_OF_KEY, asked.actor],
                limits.knocks_per_actor,
            ),
            (KNOCKS_AT_HOST, counts[KNOCKS_AT_HOST, host], limits.knocks_per_host),
        ):
            if count >= limit:
                return errors.RelayFull(what, limit)
        return None

    def _meet(self, event: Met, now: float) -> list[Effect]:
        waiting = self._waiting.get(event.ticket)
        if waiting is None or waiting.host != event.host or now >= waiting.expires_at:
            return [Refuse(event.link, errors.TicketRefused())]
        self._forget(waiting)
        asked = waiting.asked
        leased = SessionId(asked.target) if asked.is_leased else None
        pair = _Pair(asked.link, event.link, asked.actor, event.host, leased)
        self._pairs[pair.operator] = self._pairs[pair.dialled] = pair
        self._count(pair.actor, pair.host, _LINKS, 1)
        return [Join(pair.operator, pair.dialled, pair.host)]

    def _forget(self, waiting: _Waiting) -> None:
        del self._waiting[waiting.asked.ticket]
        del self._tickets[waiting.asked.link]
        self._count(waiting.asked.actor, waiting.host, (*_LINKS, *_KNOCKS), -1)

    # ── ends ──────────────────────────────────────────────────────────────

    def _leave(self, link: Link) -> list[Effect]:
        name = self._host_links.get(link)
        if name is not None:
            self._unregister(name, self._hosts[name])
            return []
        ticket = self._tickets.get(link)
        if ticket is not None:
            self._forget(self._waiting[ticket])
            return []
        pair = self._pairs.get(link)
        if pair is None:
            return []
        self._part(pair)
        return [Cut(pair.dialled if link == pair.operator else pair.operator)]

    def _part(self, pair: _Pair) -> None:
        del self._pairs[pair.operator], self._pairs[pair.dialled]
        self._count(pair.actor, pair.host, _LINKS, -1)

    def _count(
        self, actor: ActorId, host: HostId, whats: tuple[str, ...], change: int
    ) -> None:
        for what in whats:
            key = (what, actor if what in _OF_KEY else host)
            self._counts[key] += change
            if not self._counts[key]:
                del self._counts[key]

    def _unroute(self, session: SessionId) -> list[Effect]:
        pairs = {p.operator: p for p in self._pairs.values() if p.leased == session}
        effects: list[Effect] = []
        for pair in pairs.values():
            self._part(pair)
            effects += [Cut(pair.operator), Cut(pair.dialled)]
        for waiting in list(self._waiting.values()):
            if waiting.asked.is_leased and waiting.asked.target == session:
                self._forget(waiting)
                refused = errors.NotReachable(waiting.asked.target)
                effects.append(Refuse(waiting.asked.link, refused))
        return effects

    def _drain(self) -> list[Effect]:
        self._is_draining = True
        effects: list[Effect] = [Warn(host.link) for host in self._hosts.values()]
        for waiting in list(self._waiting.values()):
            self._forget(waiting)
            effects.append(Refuse(waiting.asked.link, errors.RelayLeaving()))
        return effects


def _knock(link: Link, asked: Asked) -> Knock:
    return Knock(link, asked.ticket, asked.actor, asked.target, asked.invite)
