"""Two hosts, one relay, clocks of different speeds, and a network that lies."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core.relay import lease as host_side
from holdfast.core.relay import lease_registry as relay_side
from holdfast.core.relay.lease import (
    DRIFT,
    NEVER_LIVED,
    LeaseHolder,
    host_span,
    relay_span,
)
from holdfast.core.relay.lease_registry import LeaseRegistry, Record
from holdfast.model.errors import HoldfastError, LeaseHeld, LeaseLost, RolledBack
from holdfast.model.ids import HostId, Incarnation, SessionId

S = SessionId("s_one")
TTL = 20.0
WHO = st.sampled_from((0, 1))
RATES = st.floats(1 - DRIFT, 1 + DRIFT)


@given(st.floats(1, 3600), RATES, RATES, st.floats(0, 60))
def test_i1_no_pair_of_clocks_lets_the_host_outlast_the_relay(
    ttl: float, host_rate: float, relay_rate: float, delay: float
) -> None:
    silent_after = host_span(ttl) / host_rate
    given_away_after = delay + relay_span(ttl) / relay_rate

    assert silent_after < given_away_after


@dataclass
class Clock:
    """Shows `rate` seconds in a true second, from an arbitrary beginning."""

    rate: float
    offset: float

    def at(self, true_time: float) -> float:
        return self.offset + self.rate * true_time


@dataclass
class Host:
    """A machine that carries messages for its LeaseHolder, and may die."""

    name: HostId
    clock: Clock
    holder: LeaseHolder
    lived: Incarnation = NEVER_LIVED
    is_fenced: bool = False


@dataclass
class Answer:
    """What the relay sent, and to which question."""

    host: int
    asked_at: float
    event: host_side.Event


class TwoHostsOneSession(RuleBasedStateMachine):
    @initialize(
        rates=st.tuples(*[st.sampled_from((1 - DRIFT, 1.0, 1 + DRIFT))] * 3),
    )
    def begin(self, rates: tuple[float, float, float]) -> None:
        self.now = 0.0
        self.asked = 0
        self.is_rolled_back = False
        self.backups: list[Record] = []
        self.trouble = 4  # More of it, and nobody ever gets far enough to fail.
        self.disk: dict[SessionId, Record] = {}
        self.questions: dict[int, tuple[int, float]] = {}
        self.requests: list[relay_side.Event] = []
        self.answers: list[Answer] = []
        self.writes: list[relay_side.Persist] = []
        self.grants: dict[Incarnation, HostId] = {}
        self.relay_clock = Clock(rates[0], 1000.0)
        self.registry = LeaseRegistry([], self.relay_clock.at(0), ttl=TTL)
        self.hosts = [self.booted(who, Clock(rates[1 + who], 7.0)) for who in (0, 1)]

    def booted(self, who: int, clock: Clock, seen: Incarnation = NEVER_LIVED) -> Host:
        name = HostId(f"h_{who}")
        self.now += 0.001  # Not even a boot takes no time.
        return Host(name, clock, LeaseHolder(name, clock.at(self.now), seen=seen))

    # Only lengths at which something changes: anywhere else is the same story.
    @rule(seconds=st.sampled_from((9.4, 10.5, 19.4, 20.3, 25.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(who=WHO)
    def host_asks_and_is_answered(self, who: int) -> None:
        if self.ask_now(who) and self.decide(self.requests.pop()):
            self.deliver(self.answers.pop())

    @rule(who=WHO)
    def session_is_re_homed(self, who: int) -> None:
        self.now += 25.0
        self.host_asks_and_is_answered(who)

    @rule(who=WHO, is_lost=st.booleans())
    def host_asks_and_the_answer_waits(self, who: int, *, is_lost: bool) -> None:
        if self.ask_now(who) and self.decide(self.requests.pop()) and is_lost:
            self.answers.pop()

    @rule(who=WHO)
    def host_asks_and_the_question_waits(self, who: int) -> None:
        self.ask_now(who)

    @precondition(lambda self: bool(self.requests))
    @rule(data=st.data())
    def question_arrives(self, data: st.DataObject) -> None:
        nth = data.draw(st.integers(0, len(self.requests) - 1))
        self.relay_handles(self.requests.pop(nth))

    @precondition(lambda self: bool(self.writes))
    @rule(is_full=st.booleans())
    def disk_answers(self, *, is_full: bool) -> None:
        write = self.writes.pop(0)
        if is_full:
            self.relay_handles(relay_side.PersistFailed(write.token))
        else:
            self.disk[S] = write.record
            self.backups.append(write.record)
            self.relay_handles(relay_side.Persisted(write.token))

    @precondition(lambda self: bool(self.answers))
    @rule(data=st.data(), is_repeated=st.booleans())
    def answer_arrives(self, data: st.DataObject, *, is_repeated: bool) -> None:
        nth = data.draw(st.integers(0, len(self.answers) - 1))
        self.deliver(self.answers[nth] if is_repeated else self.answers.pop(nth))

    @precondition(lambda self: self.trouble and self.disk)
    @rule()
    def relay_restarts(self) -> None:
        self.trouble -= 1
        for write in self.writes[:1]:
            self.disk[S] = write.record  # It was written, and nobody heard so.
        self.writes.clear()
        now = self.relay_clock.at(self.now)
        self.registry = LeaseRegistry(self.disk.values(), now, ttl=TTL)

    @precondition(lambda self: self.trouble and len(self.backups) > 1)
    @rule(first=WHO)
    def relay_starts_from_a_backup(self, first: int) -> None:
        self.is_rolled_back = True
        self.disk[S] = self.backups[-2]
        self.writes.clear()
        self.relay_restarts()
        self.host_asks_and_is_answered(first)

    @precondition(lambda self: self.trouble or any(self.over()))
    @rule(who=WHO, is_informed=st.booleans())
    def session_is_lost_and_claimed_anew(self, who: int, *, is_informed: bool) -> None:
        self.trouble -= self.trouble > 0
        who = self.over().index(True) if any(self.over()) else who
        lived = max(self.grants, default=NEVER_LIVED) if is_informed else NEVER_LIVED
        self.hosts[who] = self.booted(who, self.hosts[who].clock, lived)

    @precondition(lambda self: self.trouble)
    @rule(who=WHO)
    def host_process_is_replaced(self, who: int) -> None:
        self.trouble -= 1
        host = self.hosts[who]
        self.now += 0.001
        if host.holder.incarnation is not None and not host.holder.is_over:
            host.holder = LeaseHolder(
                host.name,
                host.clock.at(self.now),
                incarnation=host.holder.incarnation,
                expires_at=host.holder.expires_at,
            )

    @precondition(lambda self: self.trouble and any(self.spoken()))
    @rule()
    def session_moves_in_good_order(self) -> None:
        self.trouble -= 1
        who = 0 if self.spoken()[0] else 1
        host = self.hosts[who]
        now = host.clock.at(self.now)
        self.perform(who, host.holder.handle(host_side.GivenUp(), now))
        assert not host.holder.may_speak(now)

    @precondition(lambda self: self.trouble and self.disk)
    @rule()
    def operator_gives_up_on_the_host(self) -> None:
        self.trouble -= 1
        self.relay_handles(relay_side.Invalidated(S))
        assert self.registry.route(S, self.relay_clock.at(self.now)) is None

    @invariant()
    def at_most_one_may_speak(self) -> None:
        speaking = self.spoken()
        assert sum(number is not None for number in speaking) <= 1, "I1"
        for host, number in zip(self.hosts, speaking, strict=True):
            if number is not None:
                is_newest = number == max(self.grants) and number >= host.lived
                assert is_newest or self.is_rolled_back, "I2"
                assert not host.is_fenced, "speaks although it was fenced"
                host.lived = number

    @invariant()
    def the_route_leads_to_the_highest_incarnation(self) -> None:
        route = self.registry.route(S, self.relay_clock.at(self.now))
        if route is not None and not self.is_rolled_back:
            assert route.incarnation == max(self.grants)
            assert self.grants[route.incarnation] == route.host

    def spoken(self) -> list[Incarnation | None]:
        return [
            host.holder.speaking_incarnation(host.clock.at(self.now))
            for host in self.hosts
        ]

    def over(self) -> list[bool]:
        return [host.holder.is_over for host in self.hosts]

    def ask_now(self, who: int) -> bool:
        host = self.hosts[who]
        now = host.clock.at(self.now)
        before = self.asked
        self.perform(who, host.holder.handle(host_side.Reconnected(), now))
        self.perform(who, host.holder.tick(now))
        return self.asked > before

    def decide(self, question: relay_side.Event) -> bool:
        before = len(self.answers)
        self.relay_handles(question)
        while self.writes:
            self.disk_answers(is_full=False)
        return len(self.answers) > before

    def deliver(self, answer: Answer) -> None:
        host = self.hosts[answer.host]
        now = host.clock.at(self.now)
        before, was_over = host.holder.expires_at or 0, host.holder.is_over
        self.perform(answer.host, host.holder.handle(answer.event, now))
        if isinstance(answer.event, host_side.Granted) and before > now:
            is_longer = (host.holder.expires_at or 0) >= before
            assert is_longer or host.holder.is_over, "I3"
        assert not (was_over and host.holder.may_speak(now)), "I5"

    def perform(self, who: int, effects: list[host_side.Effect]) -> None:
        host = self.hosts[who]
        for effect in effects:
            match effect:
                case host_side.Renew(incarnation, is_speaking):
                    self.ask(who, incarnation, is_speaking=is_speaking)
                case host_side.Claim(seen):
                    self.ask(who, None, seen)
                case host_side.Release(incarnation):
                    assert host.is_fenced, "released before the fence"
                    release = relay_side.Released(S, host.name, incarnation)
                    self.requests.append(release)
                case host_side.SelfFence() | host_side.Begin() | host_side.Unfence():
                    host.is_fenced = isinstance(effect, host_side.SelfFence)
                case host_side.Retire(incarnation, by):
                    assert incarnation < by, "I5"
                case host_side.ReportRollback():
                    assert self.is_rolled_back, effect

    def ask(
        self,
        who: int,
        incarnation: Incarnation | None,
        seen: Incarnation = NEVER_LIVED,
        *,
        is_speaking: bool = False,
    ) -> None:
        self.asked += 1
        host = self.hosts[who]
        self.questions[self.asked] = (who, host.clock.at(self.now))
        asked = relay_side.Asked(
            S, host.name, incarnation, self.asked, seen, is_speaking
        )
        self.requests.append(asked)

    def relay_handles(self, event: relay_side.Event) -> None:
        now = self.relay_clock.at(self.now)
        for effect in self.registry.handle(event, now):
            match effect:
                case relay_side.Persist():
                    self.writes.append(effect)
                case relay_side.Grant():
                    self.note_grant(effect)
                case relay_side.Refuse(ask_id, error):
                    self.note_refusal(ask_id, error)
                case relay_side.ReportRollback():
                    assert self.is_rolled_back, effect
                case relay_side.Unroute() | relay_side.Forget():
                    assert self.registry.route(S, now) is None

    def note_grant(self, grant: relay_side.Grant) -> None:
        on_disk = self.disk[S]
        assert on_disk.incarnation == grant.incarnation, "granted before durable"
        assert on_disk.host == grant.host, "granted before durable"
        is_first = self.grants.setdefault(grant.incarnation, grant.host) == grant.host
        is_newest = grant.incarnation == max(self.grants)
        assert (is_first and is_newest) or self.is_rolled_back, "number given twice"
        who, asked_at = self.questions[grant.ask_id]
        event = host_side.Granted(grant.incarnation, grant.ttl, asked_at)
        self.answers.append(Answer(who, asked_at, event))

    def note_refusal(self, ask_id: int, error: HoldfastError) -> None:
        assert self.is_rolled_back or not isinstance(error, RolledBack), error
        who, asked_at = self.questions[ask_id]
        holder: HostId | None = None
        match error:
            case LeaseHeld():
                holder = HostId(str(error.facts["holder"]))
            case LeaseLost() | RolledBack():
                pass
            case _:
                return
        known = error.facts.get("offered", error.facts.get("incarnation", 0))
        number = Incarnation(int(known))
        wait = int(error.facts.get("wait_ms", 0)) / 1000
        event = host_side.Refused(holder, number, wait, asked_at)
        self.answers.append(Answer(who, asked_at, event))


TwoHostsOneSession.TestCase.settings = settings(stateful_step_count=50)
test_i1_to_i5_hold_under_every_interleaving = TwoHostsOneSession.TestCase
