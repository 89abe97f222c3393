import math

from holdfast.core.relay.lease import NEVER_LIVED, relay_span
from holdfast.core.relay.lease_registry import (
    Asked,
    Effect,
    Ended,
    Forget,
    Grant,
    Invalidated,
    LeaseRegistry,
    Persist,
    Persisted,
    PersistFailed,
    Record,
    Refuse,
    Released,
    ReportRollback,
    Route,
    Unroute,
)
from holdfast.model.errors import (
    HoldfastError,
    LeaseHeld,
    LeaseLost,
    RolledBack,
    StoreFailed,
    TooManySessions,
)
from holdfast.model.ids import HostId, Incarnation, SessionId

S = SessionId("s_one")
OTHER = SessionId("s_two")
A = HostId("h_a")
B = HostId("h_b")
TTL = 20.0
SPAN = relay_span(TTL)


def life(number: int) -> Incarnation:
    return Incarnation(number)


def claim(
    host: HostId, ask_id: int = 1, seen: int = 0, session: SessionId = S
) -> Asked:
    return Asked(session, host, None, ask_id, life(seen))


def renewal(
    host: HostId, number: int, ask_id: int = 1, *, is_speaking: bool = True
) -> Asked:
    return Asked(S, host, life(number), ask_id, is_speaking=is_speaking)


def record(host: HostId, number: int) -> Record:
    return Record(S, host, life(number), TTL)


def test_the_holder_is_whom_a_session_was_last_given_to() -> None:
    registry = LeaseRegistry([record(B, 3)], 0)

    assert registry.holder(S) == B
    assert registry.holder(OTHER) is None


def held(host: HostId = A) -> LeaseRegistry:
    registry = LeaseRegistry([], 0, ttl=TTL)
    registry.handle(claim(host), 0)
    registry.handle(Persisted(1), 0)
    return registry


def test_leases_count_from_the_grant_until_they_run_out() -> None:
    assert LeaseRegistry([], 0.0).routed_count(0.0) == 0
    lives = held()

    assert lives.routed_count(1.0) == 1
    assert lives.routed_count(1.0 + 2 * SPAN) == 0


def refusal(effects: list[Effect]) -> HoldfastError:
    (refuse,) = effects
    assert isinstance(refuse, Refuse)
    return refuse.error


def lease_held(effects: list[Effect]) -> tuple[str | int, ...]:
    error = refusal(effects)
    assert isinstance(error, LeaseHeld)
    return tuple(error.facts.values())


def test_i2_a_grant_is_answered_only_after_it_is_durable() -> None:
    registry = LeaseRegistry([], 0, ttl=TTL)

    assert registry.handle(claim(A, ask_id=9), 0) == [Persist(1, record(A, 1))]
    assert registry.route(S, 0) is None
    assert registry.handle(Persisted(1), 3) == [Grant(S, A, life(1), TTL, 9)]
    assert registry.route(S, 3) == Route(A, life(1))


def test_the_lease_is_counted_from_the_answer_not_from_the_question() -> None:
    registry = LeaseRegistry([], 0, ttl=TTL)
    registry.handle(claim(A), 0)
    registry.handle(Persisted(1), 100)

    assert registry.route(S, 100 + SPAN - 0.001) == Route(A, life(1))
    assert registry.route(S, 100 + SPAN) is None


def test_i4_a_renewal_writes_nothing() -> None:
    registry = held()

    assert registry.handle(renewal(A, 1, 5), 8) == [Grant(S, A, life(1), TTL, 5)]
    assert registry.route(S, 8 + SPAN - 0.001) == Route(A, life(1))


def test_a_holder_that_was_cut_off_may_renew_as_long_as_nobody_claimed() -> None:
    registry = held()
    registry.tick(SPAN)

    assert registry.handle(renewal(A, 1), 500) == [Grant(S, A, life(1), TTL, 1)]
    assert registry.route(S, 501) == Route(A, life(1))


def test_i1_re_homing_waits_until_the_old_lease_has_run_out() -> None:
    registry = held()

    effects = registry.handle(claim(B, seen=1), 10)

    assert lease_held(effects) == (A, 1, math.ceil((SPAN - 10) * 1000))
    assert registry.handle(claim(B, seen=1), SPAN) == [Persist(2, record(B, 2))]


def test_the_holder_itself_waits_for_the_next_incarnation_too() -> None:
    registry = held()

    assert lease_held(registry.handle(claim(A), 5))[:2] == (A, 1)


def test_an_orderly_release_lets_the_next_host_in_at_once() -> None:
    registry = held()

    assert registry.handle(Released(S, A, life(1)), 4) == [Unroute(S)]
    assert registry.route(S, 4) is None
    assert registry.handle(claim(B, seen=1), 4) == [Persist(2, record(B, 2))]


def test_a_release_is_heard_only_from_the_holder_of_the_lease() -> None:
    registry = held()

    assert registry.handle(Released(S, B, life(1)), 4) == []
    assert registry.handle(Released(S, A, life(2)), 4) == []
    assert registry.handle(Released(OTHER, A, life(1)), 4) == []
    assert registry.route(S, 4) == Route(A, life(1))


def test_a_renewal_that_was_overtaken_by_its_release_is_refused() -> None:
    registry = held()
    registry.handle(Released(S, A, life(1)), 4)

    assert isinstance(refusal(registry.handle(renewal(A, 1), 5)), LeaseLost)


def test_invalidation_stops_routing_at_once_and_re_homing_still_waits() -> None:
    registry = held()
    gone = Record(S, A, life(1), TTL, is_invalidated=True)

    assert registry.handle(Invalidated(S), 4) == [Unroute(S), Persist(2, gone)]
    assert registry.route(S, 4) is None
    assert isinstance(refusal(registry.handle(renewal(A, 1), 5)), LeaseLost)
    assert lease_held(registry.handle(claim(B), 5))[:2] == (A, 1)
    assert registry.handle(claim(B), SPAN) == [Persist(3, record(B, 2))]
    assert registry.handle(Persisted(2), SPAN) == []
    assert registry.handle(Persisted(3), SPAN) == [Grant(S, B, life(2), TTL, 1)]


def test_invalidation_is_said_once_and_only_of_known_sessions() -> None:
    registry = held()
    registry.handle(Invalidated(S), 4)

    assert registry.handle(Invalidated(S), 5) == []
    assert registry.handle(Invalidated(OTHER), 5) == []
    assert registry.handle(PersistFailed(2), 5) == []


def test_an_invalidation_never_overwrites_the_incarnation_being_decided() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)

    assert registry.handle(Invalidated(S), SPAN) == [Unroute(S)]
    assert registry.handle(Persisted(2), SPAN) == [Grant(S, B, life(2), TTL, 1)]
    assert registry.route(S, SPAN) == Route(B, life(2))


def test_i5_a_second_claim_waits_while_the_first_is_being_decided() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)

    effects = registry.handle(claim(A, ask_id=2), SPAN)

    assert lease_held(effects) == (B, 1, math.ceil(SPAN * 1000))


def test_the_old_holder_cannot_renew_while_its_successor_is_being_decided() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)

    assert isinstance(refusal(registry.handle(renewal(A, 1), SPAN)), LeaseLost)


def test_a_superseded_host_is_told_who_lives_now() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)
    registry.handle(Persisted(2), SPAN)

    assert lease_held(registry.handle(renewal(A, 1), SPAN))[:2] == (B, 2)
    assert lease_held(registry.handle(renewal(A, 2), SPAN))[:2] == (B, 2)


def test_a_full_disk_refuses_the_claim_and_leaves_the_old_lease_renewable() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)

    effects = registry.handle(PersistFailed(2), SPAN)

    assert isinstance(refusal(effects), StoreFailed)
    assert registry.handle(renewal(A, 1), SPAN) == [Grant(S, A, life(1), TTL, 1)]


def test_a_number_whose_write_failed_is_not_tried_again() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)
    registry.handle(PersistFailed(2), SPAN)

    assert registry.handle(claim(B), SPAN) == [Persist(3, record(B, 3))]


def test_a_first_lease_that_could_not_be_written_leaves_nothing_behind() -> None:
    registry = LeaseRegistry([], 0, ttl=TTL, max_sessions=1)
    registry.handle(claim(A), 0)
    registry.handle(PersistFailed(1), 0)

    (persist,) = registry.handle(claim(A, session=OTHER), 0)
    assert isinstance(persist, Persist)


def test_at_the_bound_new_sessions_are_refused_and_old_ones_live() -> None:
    registry = LeaseRegistry([record(A, 3)], 0, max_sessions=1)

    effects = registry.handle(claim(A, session=OTHER), 0)

    assert isinstance(refusal(effects), TooManySessions)
    assert registry.handle(renewal(A, 3), 0) == [Grant(S, A, life(3), TTL, 1)]


def test_after_a_restart_nobody_is_routed_before_the_holder_has_renewed() -> None:
    registry = LeaseRegistry([record(A, 3)], 50)

    assert registry.route(S, 50) is None
    assert registry.handle(renewal(A, 3), 51) == [Grant(S, A, life(3), TTL, 1)]
    assert registry.route(S, 51) == Route(A, life(3))


def test_after_a_restart_re_homing_waits_for_a_whole_lease_of_the_recorded_length() -> (
    None
):
    registry = LeaseRegistry([record(A, 3)], 50, ttl=1)

    assert lease_held(registry.handle(claim(B), 50 + SPAN - 0.5)) == (A, 3, 500)
    assert registry.handle(claim(B), 50 + SPAN) == [
        Persist(1, Record(S, B, life(4), 1))
    ]


def test_i8_after_a_restart_whoever_had_fallen_silent_waits_for_a_whole_lease() -> None:
    registry = LeaseRegistry([record(A, 3)], 50)
    silent = renewal(A, 3, is_speaking=False)

    assert lease_held(registry.handle(silent, 50 + SPAN - 0.5)) == (A, 3, 500)
    assert registry.route(S, 50 + SPAN - 0.5) is None
    assert registry.handle(silent, 50 + SPAN) == [Grant(S, A, life(3), TTL, 1)]


def test_i8_the_wait_is_over_once_the_holder_has_proved_to_be_one() -> None:
    registry = LeaseRegistry([record(A, 3)], 50)
    registry.handle(renewal(A, 3), 51)

    effects = registry.handle(renewal(A, 3, is_speaking=False), 52)

    assert effects == [Grant(S, A, life(3), TTL, 1)]


def test_an_invalidation_outlives_a_restart() -> None:
    gone = Record(S, A, life(1), TTL, is_invalidated=True)
    registry = LeaseRegistry([gone], 50)

    assert isinstance(refusal(registry.handle(renewal(A, 1), 51)), LeaseLost)


def test_i6_proof_of_a_rollback_stops_every_decision_about_the_session() -> None:
    registry = held()

    effects = registry.handle(renewal(B, 5, ask_id=2), 4)

    assert refusal(effects[:1]).facts == RolledBack(life(5), life(1)).facts
    assert effects[1:] == [ReportRollback(S, life(5), life(1)), Unroute(S)]
    assert registry.route(S, 4) is None
    stopped = refusal(registry.handle(renewal(A, 1), 5))
    assert stopped.facts == RolledBack(life(5), life(1)).facts
    assert isinstance(refusal(registry.handle(claim(A), 900)), RolledBack)
    assert isinstance(refusal(registry.handle(renewal(B, 5), 6)), RolledBack)
    assert registry.handle(Ended(S, A, life(1)), 7) == []


def test_i6_a_claim_that_was_being_decided_is_refused_when_proof_arrives() -> None:
    registry = LeaseRegistry([], 0)
    registry.handle(claim(B), 0)
    registry.handle(renewal(A, 5), 0)

    assert isinstance(refusal(registry.handle(Persisted(1), 0)), RolledBack)
    assert registry.route(S, 0) is None


def test_a_claim_for_a_session_that_lived_elsewhere_is_not_taken_for_a_first_one() -> (
    None
):
    registry = LeaseRegistry([], 0)

    effects = registry.handle(claim(B, seen=3), 0)

    assert refusal(effects[:1]).facts == RolledBack(life(3), NEVER_LIVED).facts
    assert effects[1:] == [ReportRollback(S, life(3), NEVER_LIVED)]


def test_a_session_that_ended_is_forgotten() -> None:
    registry = held()

    assert registry.handle(Ended(S, B, life(1)), 4) == []
    assert registry.handle(Ended(OTHER, A, life(1)), 4) == []
    assert registry.handle(Ended(S, A, life(1)), 4) == [Unroute(S), Forget(S)]
    assert registry.tick(1000) == []
    assert registry.next_deadline() is None


def test_a_session_being_re_homed_is_not_forgotten() -> None:
    registry = held()
    registry.handle(claim(B), SPAN)

    assert registry.handle(Ended(S, A, life(1)), SPAN) == []


def test_a_route_that_ran_out_is_cut_once() -> None:
    registry = held()

    assert registry.next_deadline() == SPAN
    assert registry.tick(SPAN) == [Unroute(S)]
    assert registry.tick(SPAN) == []
    assert registry.next_deadline() is None


def test_a_renewed_route_is_not_cut_at_its_former_end() -> None:
    registry = held()
    registry.handle(renewal(A, 1), 10)

    assert registry.tick(SPAN) == []
    assert registry.next_deadline() == 10 + SPAN
    assert registry.tick(10 + SPAN) == [Unroute(S)]
