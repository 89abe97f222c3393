"""The relay's peers: their connections, their proofs, and which are joined.

It passes messages between the legs and the machines of `core`, and leaves the decisions
to them: who may connect (unproven_connections), whose request is meant for us
(web_origin), who is joined with whom (peer_joins), who speaks for a session (leases).
"""

import asyncio
import itertools
import secrets
from collections.abc import Callable
from http import HTTPStatus

from websockets.http11 import Request, Response

from holdfast.aio.log import log
from holdfast.core.relay import peer_joins
from holdfast.core.relay.allowance import Allowance
from holdfast.core.relay.peer_joins import Link
from holdfast.core.relay.unproven_connections import Place, UnprovenConnections
from holdfast.core.relay.web_origin import OriginCheck
from holdfast.crypto.keys import verify
from holdfast.model import errors
from holdfast.model.ids import SessionId, actor_id, host_id
from holdfast.ports.lease_store import LeaseStore
from holdfast.relay.caller import Caller
from holdfast.relay.http_front import HttpFront, read_web, refused
from holdfast.relay.leases import Leases
from holdfast.relay.leg import Leg
from holdfast.relay.numbers import Numbers
from holdfast.relay.settings import Settings
from holdfast.wire import relay_messages as wire
from holdfast.wire.relay_messages import MAX_UNPROVEN, NONCE, TICKET, VERSION, Role

GOING_AWAY = 1001
REFUSED = 4000
"""Close codes of WebSocket; the reason beside them is the code of an error."""

NORMAL = 1000
PEER_LEFT = "peer-left"

HOST_BYTES_A_SECOND = 64 * 1024
"""What a registered host may say about itself: a thousand leases renewed, and as
much again. What its operators say goes over other links."""

HOST_BYTES_AT_ONCE = 2 * 1024 * 1024
"""What it may say in one go: all it admits and publishes, several times over."""

_WAYS: dict[Role, type[wire.Proof]] = {
    Role.HOST: wire.Register,
    Role.MEET: wire.Meet,
    Role.OPERATOR: wire.Reach,
}


class RelayPeers:
    """One relay."""

    def __init__(
        self,
        settings: Settings,
        port: int,
        store: LeaseStore | None,
        fail: Callable[[BaseException], None],
    ) -> None:
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._point = peer_joins.PeerJoins(settings.limits)
        self._unproven = UnprovenConnections(
            settings.unproven, settings.unproven_per_source
        )
        self._porch = UnprovenConnections(
            settings.limits.hosts + 1, settings.hosts_per_source
        )
        self._numbers = Numbers()
        self._legs: dict[Link, Leg] = {}
        self._present: set[Leg] = set()
        self._emptied = asyncio.Event()
        self._host_places: dict[Link, Place] = {}
        self._allowances: dict[Link, Allowance] = {}
        self._links = itertools.count(1)
        self._front = HttpFront(
            OriginCheck(settings.all_names(port), settings.scheme),
            {} if settings.web is None else read_web(settings.web),
            self._metrics,
            has_open_metrics=settings.has_open_metrics,
        )
        self._leases: Leases | None = None
        if store is not None:
            self._leases = Leases(
                store,
                self._send,
                self._unroute,
                fail,
                self._numbers,
                settings.lease_ttl,
            )

    # ── coming and going ──────────────────────────────────────────────────

    def enter(self, caller: Caller) -> Leg | None:
        """Return a leg for a new connection, or None if there is no room."""
        # Behind a proxy all connections come from the proxy: the real address is
        # known when the request is read.
        source = "" if self._settings.is_behind_proxy else caller.source
        place = self._unproven.enter(source)
        is_embedded = bool(self._settings.only_hosts)
        if place is None and is_embedded and caller.is_own_host():
            place = self._unproven.enter(source, is_own_host=True)
        if place is None:
            self._numbers.add("turned_away_total")
            return None
        self._numbers.add("connections_total")
        leg = Leg(Link(next(self._links)), self, caller)
        leg.place = place
        self._legs[leg.link] = leg
        self._present.add(leg)
        return leg

    def left(self, leg: Leg) -> None:
        """Note that nothing more will come from a leg."""
        self._legs.pop(leg.link, None)
        self._allowances.pop(leg.link, None)
        if place := self._host_places.pop(leg.link, None):
            self._porch.leave(place)
        if leg.partner is not None and leg.role is Role.OPERATOR:
            passed_on = leg.passed_on + leg.partner.passed_on
            self._numbers.add("bytes_total", amount=passed_on)
            log("pair.parted", pair=leg.link, bytes=passed_on)
        if (host := self._point.host_of(leg.link)) is not None:
            log("host.left", host=host)
        self._handle(peer_joins.Left(leg.link), farewell=leg.farewell())

    def gone(self, leg: Leg) -> None:
        """Note that a connection is gone."""
        self._vacate(leg)
        self._present.discard(leg)
        if not self._present:
            self._emptied.set()

    def _vacate(self, leg: Leg) -> None:
        if leg.place is not None:
            self._unproven.leave(leg.place)
            leg.place = None

    # ── requests ──────────────────────────────────────────────────────────

    def asked_for(self, leg: Leg, request: Request) -> Response | None:
        """Return what to answer, or None to go on with WebSocket."""
        if self._settings.is_behind_proxy and not self._is_moved(leg, request):
            self._numbers.add("requests_refused_total", "proxy")
            return refused(HTTPStatus.TOO_MANY_REQUESTS)
        answer = self._front.answer(request, leg.address)
        if isinstance(answer, Role):
            leg.role = answer
            leg.name = request.headers["Host"]
            return None
        response, why = answer
        if why:
            self._numbers.add("requests_refused_total", why)
        return response

    def _is_moved(self, leg: Leg, request: Request) -> bool:
        """Count a leg by the address that the proxy saw; False if it cannot be."""
        told = request.headers.get_all("X-Forwarded-For")
        # The last is what our own proxy added; those before it can be forged.
        address = told[-1].rpartition(",")[2].strip() if told else ""
        self._vacate(leg)
        leg.address = leg.source = address
        leg.place = self._unproven.enter(address) if address else None
        return leg.place is not None

    def opened(self, leg: Leg) -> None:
        """Ask the dialling peer to sign something."""
        leg.nonce = secrets.token_bytes(NONCE)
        leg.send(wire.encode(wire.Greet(VERSION, leg.nonce)))

    # ── messages ──────────────────────────────────────────────────────────

    def heard(self, leg: Leg, message: bytes) -> None:
        """Take a message on a leg that is not joined."""
        try:
            if leg.is_proven:
                self._count(leg, len(message))
                self._take(leg, wire.decode(message))
            else:
                self._prove(leg, wire.decode(message, MAX_UNPROVEN))
        except errors.HoldfastError as error:
            self._refuse(leg, error)

    def _count(self, leg: Leg, size: int) -> None:
        allowance = self._allowances.get(leg.link)
        if allowance is not None and not allowance.spend(size, self._loop.time()):
            raise errors.RelayFull("bytes of one host in a second", HOST_BYTES_A_SECOND)

    def _prove(self, leg: Leg, said: wire.RelayMessage) -> None:
        if leg.role is None or not isinstance(said, _WAYS[leg.role]):
            raise errors.UnexpectedMessage(type(said).__name__, "nobody is proven")
        assert isinstance(said, wire.Proof)  # noqa: S101  # what _WAYS has
        signed = wire.stated(said, leg.name, leg.nonce)
        if not verify(said.key, signed, said.signature):
            raise errors.NotProven("")
        leg.prove()
        self._welcome(leg, said)
        # A refused peer keeps its place until it is gone: anyone can make a
        # key, prove it, be refused and be slow to leave.
        if leg.link in self._legs:
            self._vacate(leg)

    def _welcome(self, leg: Leg, said: wire.Proof) -> None:
        match said:
            case wire.Register():
                self._register(leg, said)
            case wire.Meet():
                met = peer_joins.Met(leg.link, host_id(said.key), said.ticket)
                self._handle(met)
            case wire.Reach():
                self._reach(leg, said)

    def _register(self, leg: Leg, said: wire.Register) -> None:
        host = host_id(said.key)
        if self._settings.only_hosts and host not in self._settings.only_hosts:
            raise errors.NotProven(host)
        place = self._porch.enter(leg.source)
        if place is None:
            limit = self._settings.hosts_per_source
            raise errors.RelayFull("hosts of one address", limit)
        self._host_places[leg.link] = place
        now = self._loop.time()
        self._allowances[leg.link] = Allowance(
            HOST_BYTES_A_SECOND, HOST_BYTES_AT_ONCE, now
        )
        registered = peer_joins.Registered(leg.link, host)
        effects = self._point.handle(registered, self._loop.time())
        if self._point.host_of(leg.link) is not None:
            leg.send(wire.encode(wire.Registered(host)))
            log("host.registered", host=host)
        for effect in effects:  # Among them knocks, which come after the answer.
            self._perform(effect)

    def _reach(self, leg: Leg, said: wire.Reach) -> None:
        is_leased, leased_to = False, None
        if self._leases is not None and said.target.startswith("s_"):
            is_leased, leased_to = self._leases.route(SessionId(said.target))
        self._handle(
            peer_joins.Asked(
                leg.link,
                actor_id(said.key),
                SessionId(said.target),
                said.invite,
                secrets.token_bytes(TICKET),
                is_leased,
                leased_to,
            )
        )

    def _take(self, leg: Leg, said: wire.RelayMessage) -> None:
        host = self._point.host_of(leg.link)
        if host is None:
            raise errors.UnexpectedMessage(type(said).__name__, "nobody is joined")
        match said:
            case wire.Admit():
                self._handle(
                    peer_joins.Admitted(
                        leg.link, said.actors, said.invites, said.resets
                    )
                )
            case wire.Dismiss():
                self._handle(peer_joins.Dismissed(leg.link, said.actors, said.invites))
            case wire.Publish():
                self._handle(
                    peer_joins.Published(
                        leg.link, said.added, said.removed, said.resets
                    )
                )
            case (
                wire.LeaseAsk() | wire.LeaseRelease() | wire.LeaseEnd() | wire.Entrust()
            ) if self._leases is not None:
                self._leases.heard(leg.link, host, said)
            case _:
                raise errors.UnexpectedMessage(
                    type(said).__name__, "a host is registered"
                )

    # ── what comes of it ──────────────────────────────────────────────────

    def _handle(self, event: peer_joins.Event, farewell: str = "") -> None:
        for effect in self._point.handle(event, self._loop.time()):
            self._perform(effect, farewell)

    def _perform(self, effect: peer_joins.Effect, farewell: str = "") -> None:
        match effect:
            case peer_joins.Knock():
                knock = wire.Knock(
                    effect.ticket, effect.actor, effect.target, effect.invite
                )
                self._send(effect.link, wire.encode(knock))
            case peer_joins.Join():
                self._join(effect)
            case peer_joins.Refuse():
                if (leg := self._legs.get(effect.link)) is not None:
                    self._refuse(leg, effect.error)
            case peer_joins.Cut():
                if (leg := self._legs.get(effect.link)) is not None:
                    leg.close(NORMAL, farewell or PEER_LEFT)
            case peer_joins.Warn():
                self._send(effect.link, wire.encode(wire.Leaving()))

    def _join(self, effect: peer_joins.Join) -> None:
        operator, met = self._legs[effect.operator], self._legs[effect.dialled]
        joined = wire.encode(wire.Joined(effect.host))
        operator.send(joined)
        met.send(joined)
        operator.join(met)
        met.join(operator)
        self._numbers.add("pairs_total")
        log("pair.joined", pair=operator.link)

    def _refuse(self, leg: Leg, error: errors.HoldfastError) -> None:
        self._numbers.add("refusals_total", error.code)
        leg.send(wire.encode(wire.refusal(error)))
        leg.close(REFUSED, error.code)

    def _send(self, link: Link, message: bytes) -> None:
        if (leg := self._legs.get(link)) is not None:
            leg.send(message)

    def _unroute(self, session: SessionId) -> None:
        self._handle(peer_joins.Unrouted(session))

    # ── time ──────────────────────────────────────────────────────────────

    def tick(self) -> None:
        """Do what the clock demands. To be called every second or so."""
        now = self._loop.time()
        deadline = self._point.next_deadline()
        if deadline is not None and deadline <= now:
            for effect in self._point.tick(now):
                self._perform(effect)
        if self._leases is not None:
            self._leases.tick()

    def sweep(self) -> None:
        """Look for ends that are gone or stuck, several times a heartbeat."""
        now, beat = self._loop.time(), self._settings.heartbeat
        for leg in list(self._legs.values()):
            if leg.stuck_at is not None:
                if now - leg.stuck_at >= self._settings.slow_peer:
                    self._cut_slow(leg)
            elif leg.is_proven and not leg.is_held:
                quiet = now - leg.heard_at
                if quiet >= 2 * beat:
                    self._numbers.add("cuts_total", "silent")
                    leg.abort()
                elif quiet >= beat and now - leg.pinged_at >= beat / 2:
                    leg.ping(now)

    def _cut_slow(self, leg: Leg) -> None:
        self._numbers.add("cuts_total", errors.SlowPeer.code)
        if leg.partner is not None:
            leg.partner.close(REFUSED, errors.SlowPeer.code)
        leg.abort()

    def drain(self) -> None:
        """Accept nobody any more, and tell the hosts."""
        self._handle(peer_joins.Drained())

    @property
    def pairs(self) -> int:
        """How many are joined."""
        return self._point.stats().pairs

    async def dismiss(self) -> None:
        """Close all links, and wait until they are gone."""
        self._emptied.clear()
        for leg in list(self._legs.values()):
            leg.close(GOING_AWAY, "relay-leaving")
        if self._present:
            await self._emptied.wait()

    def close(self) -> None:
        """Let go of the store."""
        if self._leases is not None:
            self._leases.close()

    def _metrics(self) -> str:
        others = {
            "unproven": self._unproven.inside,
            "links": len(self._present),
            "leases": 0 if self._leases is None else self._leases.held_count(),
        }
        return self._numbers.text(self._point.stats(), others)
