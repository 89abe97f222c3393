from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core.relay.lease import NEVER_LIVED, relay_span
from holdfast.core.relay.lease_registry import (
    Asked,
    Event,
    Grant,
    Invalidated,
    LeaseRegistry,
    Persist,
    Persisted,
    PersistFailed,
    Record,
    Refuse,
    Released,
    Route,
    Unroute,
)
from holdfast.model.errors import RolledBack
from holdfast.model.ids import HostId, Incarnation, SessionId

S = SessionId("s_one")
TTL = 10.0
SPAN = relay_span(TTL)
HOST = st.sampled_from((HostId("h_a"), HostId("h_b")))


class EveryQuestionAtOnce(RuleBasedStateMachine):
    """Hosts ask for anything they could have heard of, at any moment."""

    @initialize()
    def begin(self) -> None:
        self.now = 0.0
        self.disk: Record | None = None
        self.write: Persist | None = None
        self.registry = LeaseRegistry([], 0, ttl=TTL)
        self.asked = 0
        self.trouble = 3  # More of it, and no lease ever lives to its end.
        self.open: set[int] = set()
        self.claiming: HostId | None = None
        self.numbers = [NEVER_LIVED]
        self.answered_at = 0.0
        self.is_routed = self.is_void = self.is_unproven = False
        self.is_released = True

    @rule(seconds=st.sampled_from((1.0, SPAN - 1.0, SPAN)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(host=HOST)
    def a_host_claims(self, host: HostId) -> None:
        before = self.write
        self.ask(Asked(S, host, None, self.asked + 1))
        if self.write is not before:
            assert before is None, "I5"
            assert self.is_released or self.now >= self.answered_at + SPAN, "I1"

    @precondition(lambda self: self.disk is not None)
    @rule(host=HOST, back=st.sampled_from((0, 0, 1)), is_speaking=st.booleans())
    def a_host_renews(self, host: HostId, back: int, *, is_speaking: bool) -> None:
        number = Incarnation(max(self.numbers[-1] - back, 1))
        if number <= self.known():
            ask_id = self.asked + 1
            self.ask(Asked(S, host, number, ask_id, is_speaking=is_speaking))
            assert not self.open - {self.pending()}, "I7: renewals need no disk (I4)"

    @precondition(lambda self: self.write is not None)
    @rule(is_full=st.booleans())
    def disk_answers(self, *, is_full: bool) -> None:
        write, self.write = self.write, None
        assert write is not None
        if is_full:
            self.tell(PersistFailed(write.token))
        else:
            self.disk = write.record
            self.is_released = self.is_void = False
            self.tell(Persisted(write.token))
        assert not self.open, "I7"

    @rule(host=HOST, back=st.sampled_from((0, 0, 1)))
    def a_host_releases(self, host: HostId, back: int) -> None:
        number = Incarnation(self.known() - back)
        self.tell(Released(S, host, number))
        if self.disk and (host, number) == (self.disk.host, self.disk.incarnation):
            self.is_released, self.is_routed = True, False

    @precondition(lambda self: self.trouble and self.disk)
    @rule()
    def an_operator_gives_up_on_the_host(self) -> None:
        self.trouble -= 1
        self.is_void, self.is_routed = True, False
        self.tell(Invalidated(S))

    @precondition(lambda self: self.trouble and self.disk)
    @rule()
    def the_relay_restarts(self) -> None:
        assert self.disk is not None
        self.trouble -= 1
        self.write = None
        self.open.clear()
        self.answered_at = self.now
        self.is_routed = self.is_released = False
        self.is_unproven = True
        self.is_void = self.disk.is_invalidated
        self.registry = LeaseRegistry([self.disk], self.now, ttl=TTL)

    @rule()
    def the_clock_is_asked(self) -> None:
        for effect in self.registry.tick(self.now):
            assert effect == Unroute(S)
            assert self.now >= self.answered_at + SPAN
            self.is_routed = False

    @invariant()
    def routes_are_what_the_leases_say(self) -> None:
        route = self.registry.route(S, self.now)
        if self.disk and self.is_routed and self.now < self.answered_at + SPAN:
            assert route == Route(self.disk.host, self.disk.incarnation), "I3"
        else:
            assert route is None, "I3"

    def known(self) -> Incarnation:
        return NEVER_LIVED if self.disk is None else self.disk.incarnation

    def pending(self) -> int:
        return max(self.open, default=0) if self.write else 0

    def ask(self, question: Asked) -> None:
        self.asked += 1
        self.open.add(question.ask_id)
        self.question = question
        self.tell(question)

    def tell(self, event: Event) -> None:
        for effect in self.registry.handle(event, self.now):
            match effect:
                case Persist(_, record) if record.is_invalidated:
                    assert self.write is None, "overwrites the next incarnation"
                    assert self.disk == replace(record, is_invalidated=False)
                    self.disk = record
                case Persist():
                    self.write = effect
                case Grant():
                    self.check_grant(effect, event)
                case Refuse(ask_id, error):
                    self.open.remove(ask_id)
                    assert not isinstance(error, RolledBack), "I6"
                case _:
                    assert effect == Unroute(S)

    def check_grant(self, grant: Grant, event: Event) -> None:
        self.open.remove(grant.ask_id)
        assert self.disk is not None
        holder = (self.disk.host, self.disk.incarnation)
        assert (grant.host, grant.incarnation) == holder, "I2"
        if isinstance(event, Asked):
            assert (event.host, event.incarnation) == holder, "I2"
            is_void = self.is_released or self.is_void or self.write is not None
            assert not is_void, "I3"
            is_early = self.is_unproven and self.now < self.answered_at + SPAN
            assert event.is_speaking or not is_early, "I8"
        else:
            assert grant.incarnation > self.numbers[-1], "I2"
            self.numbers.append(grant.incarnation)
        self.answered_at = self.now
        self.is_routed, self.is_unproven = True, False


EveryQuestionAtOnce.TestCase.settings = settings(stateful_step_count=50)
test_i1_to_i8_hold_whatever_is_asked = EveryQuestionAtOnce.TestCase
