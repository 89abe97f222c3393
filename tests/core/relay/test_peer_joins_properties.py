from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core.relay.peer_joins import (
    TICKET_TTL,
    Admitted,
    Asked,
    Cut,
    Dismissed,
    Drained,
    Effect,
    Event,
    Join,
    Knock,
    Left,
    Limits,
    Link,
    Met,
    PeerJoins,
    Refuse,
    Registered,
    Warn,
)
from holdfast.model.errors import HostReplaced, NotReachable, RelayLeaving
from holdfast.model.ids import ActorId, HostId

HOSTS = (HostId("h_a"), HostId("h_b"))
ACTORS = (ActorId("a_a"), ActorId("a_b"))
LIMITS = Limits(
    hosts=2,
    operators=4,
    per_actor=3,
    per_host=3,
    knocks_per_actor=2,
    knocks_per_host=2,
)


class EverybodyAtOnce(RuleBasedStateMachine):
    """Peers come, go, use old tickets and each other's, in any order."""

    @initialize()
    def begin(self) -> None:
        self.now = 0.0
        self.point = PeerJoins(LIMITS)
        self.count = 0
        self.registered: dict[HostId, Link] = {}
        self.admitted: dict[HostId, set[ActorId]] = {}
        self.questions: dict[Link, Asked] = {}
        self.tickets: dict[bytes, tuple[HostId, Asked, float]] = {}
        self.used: set[bytes] = set()
        self.pairs: dict[Link, Link] = {}
        self.owners: dict[Link, tuple[ActorId, HostId]] = {}
        self.is_draining = False
        # Else most steps would do nothing.
        for host in HOSTS:
            self.host_registers(host)
            self.admitted[host] = {ACTORS[0]}
            self.tell(Admitted(self.registered[host], (ACTORS[0],), ()))

    def fresh(self) -> Link:
        self.count += 1
        return Link(self.count)

    def tell(self, event: Event) -> list[Effect]:
        effects = self.point.handle(event, self.now)
        for effect in effects:
            self.check(effect, event)
        return effects

    def check(self, effect: Effect, event: Event | None) -> None:
        match effect:
            case Knock():
                assert not isinstance(event, Asked) or self.is_admitted(event), "I3"
                host, asked, _ = self.tickets[effect.ticket]
                assert effect.link == self.registered[host], "I1"
                assert asked.link in self.questions, "I6"
            case Join():
                self.join(effect)
            case Refuse():
                self.refuse(effect, event)
            case Cut():
                assert self.pairs.pop(effect.link, None) is not None, "I8"
            case Warn():
                assert effect.link in self.registered.values()

    def is_admitted(self, asked: Asked) -> bool:
        host = HostId(asked.target)
        return host in self.registered and asked.actor in self.admitted[host]

    def is_full(self, asked: Asked) -> bool:
        inside = [self.owners[link] for link in self.pairs if link in self.owners]
        waiting = [(one.actor, one.target) for one in self.questions.values()]
        both = [*inside, *waiting]
        return (
            len(both) >= LIMITS.operators
            or sum(actor == asked.actor for actor, _ in both) >= LIMITS.per_actor
            or sum(host == asked.target for _, host in both) >= LIMITS.per_host
            or sum(a == asked.actor for a, _ in waiting) >= LIMITS.knocks_per_actor
            or sum(h == asked.target for _, h in waiting) >= LIMITS.knocks_per_host
        )

    def join(self, join: Join) -> None:
        assert join.operator not in self.pairs, "I1"
        assert join.dialled not in self.pairs, "I1"
        asked = self.questions.pop(join.operator)
        host, _, expires_at = self.tickets[asked.ticket]
        assert host == join.host, "I1"
        assert self.now < expires_at, "I2"
        assert asked.ticket not in self.used, "I2"
        self.used.add(asked.ticket)
        self.pairs[join.operator] = join.dialled
        self.pairs[join.dialled] = join.operator
        self.owners[join.operator] = (asked.actor, host)

    def refuse(self, refuse: Refuse, event: Event | None) -> None:
        if isinstance(refuse.error, HostReplaced):
            assert isinstance(event, Registered)
            assert refuse.link != event.link, "I5"
        elif refuse.link in self.questions:
            asked = self.questions.pop(refuse.link)
            if isinstance(event, Asked) and not self.is_draining:
                is_unknown = isinstance(refuse.error, NotReachable)
                assert is_unknown != self.is_admitted(asked), "I3"
                assert is_unknown or self.is_full(asked), "I4"

    @rule(seconds=st.sampled_from((1.0, TICKET_TTL)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def relay_looks_at_the_clock(self) -> None:
        for effect in self.point.tick(self.now):
            self.check(effect, None)

    @rule(host=st.sampled_from(HOSTS))
    def host_registers(self, host: HostId) -> None:
        link = self.fresh()
        former = self.registered.get(host)
        if not self.is_draining:
            self.registered[host] = link
            self.admitted[host] = set()
        effects = self.tell(Registered(link, host))
        if self.is_draining:
            assert isinstance(effects[0], Refuse), "I7"
            assert isinstance(effects[0].error, RelayLeaving), "I7"
            return
        waiting = [asked for asked in self.questions.values() if asked.target == host]
        knocks = [effect for effect in effects if isinstance(effect, Knock)]
        assert len(knocks) == len(waiting), "I5"
        assert self.point.host_of(link) == host, "I5"
        assert former is None or self.point.host_of(former) is None, "I5"

    @precondition(lambda self: bool(self.registered))
    @rule(data=st.data(), actor=st.sampled_from(ACTORS), admits=st.booleans())
    def host_chooses(
        self, data: st.DataObject, actor: ActorId, *, admits: bool
    ) -> None:
        host = data.draw(st.sampled_from(sorted(self.registered)))
        link = self.registered[host]
        if admits:
            self.admitted[host].add(actor)
            self.tell(Admitted(link, (actor,), ()))
        else:
            self.admitted[host].discard(actor)
            self.tell(Dismissed(link, (actor,), ()))

    @rule(host=st.sampled_from(HOSTS), actor=st.sampled_from(ACTORS))
    def operator_asks(self, host: HostId, actor: ActorId) -> None:
        link = self.fresh()
        asked = Asked(link, actor, host, b"", b"%d" % link)
        self.questions[link] = asked
        self.tickets[asked.ticket] = (host, asked, self.now + TICKET_TTL)
        effects = self.tell(asked)
        assert len(effects) == 1, "I6"
        if self.is_draining:
            assert isinstance(effects[0], Refuse), "I7"

    @precondition(lambda self: bool(self.questions))
    @rule(data=st.data())
    def host_comes_for_its_knock(self, data: st.DataObject) -> None:
        asked = data.draw(st.sampled_from(list(self.questions.values())))
        is_late = self.now >= self.tickets[asked.ticket][2]
        effects = self.tell(Met(self.fresh(), HostId(asked.target), asked.ticket))
        assert isinstance(effects[0], Refuse if is_late else Join), "I2"

    @precondition(lambda self: bool(self.tickets))
    @rule(data=st.data(), host=st.sampled_from(HOSTS))
    def somebody_shows_any_ticket(self, data: st.DataObject, host: HostId) -> None:
        ticket = data.draw(st.sampled_from(sorted(self.tickets)))
        effects = self.tell(Met(self.fresh(), host, ticket))
        assert len(effects) == 1, "I6"

    @precondition(lambda self: bool(self.pairs) or bool(self.questions))
    @rule(data=st.data())
    def operator_or_meeting_leaves(self, data: st.DataObject) -> None:
        links = sorted([*self.pairs, *self.questions])
        link = data.draw(st.sampled_from(links))
        self.questions.pop(link, None)
        partner = self.pairs.pop(link, None)
        effects = self.tell(Left(link))
        assert effects == ([] if partner is None else [Cut(partner)]), "I8"

    @precondition(lambda self: bool(self.registered))
    @rule(data=st.data())
    def host_leaves(self, data: st.DataObject) -> None:
        host = data.draw(st.sampled_from(sorted(self.registered)))
        self.tell(Left(self.registered.pop(host)))

    @precondition(lambda self: self.count > 20)
    @rule()
    def relay_drains(self) -> None:
        self.is_draining = True
        self.tell(Drained())
        assert not self.questions, "I6"

    @invariant()
    def nothing_is_beyond_its_limit(self) -> None:
        stats = self.point.stats()
        assert stats.pairs == len(self.pairs) // 2
        assert stats.waiting == len(self.questions), "I6"
        assert stats.pairs + stats.waiting <= LIMITS.operators, "I4"
        inside = [self.owners[link] for link in self.pairs if link in self.owners]
        waiting = [
            (asked.actor, HostId(asked.target)) for asked in self.questions.values()
        ]
        actors = Counter(actor for actor, _ in inside + waiting)
        hosts = Counter(host for _, host in inside + waiting)
        assert max(actors.values(), default=0) <= LIMITS.per_actor, "I4"
        assert max(hosts.values(), default=0) <= LIMITS.per_host, "I4"
        assert max(Counter(a for a, _ in waiting).values(), default=0) <= 2, "I4"


EverybodyAtOnce.TestCase.settings = settings(stateful_step_count=50)
test_no_order_of_events_breaks_an_invariant = EverybodyAtOnce.TestCase
