import pytest

from holdfast.core.relay.lease import (
    MARGIN,
    MAX_WAIT,
    RETRY,
    Begin,
    Claim,
    GivenUp,
    Granted,
    LeaseHolder,
    Reconnected,
    Refused,
    Release,
    Renew,
    ReportRollback,
    Retire,
    SelfFence,
    Unfence,
    host_span,
    relay_span,
)
from holdfast.model.ids import HostId, Incarnation

HERE = HostId("h_here")
THERE = HostId("h_there")
TTL = 20.0
LAST = host_span(TTL)


def life(number: int) -> Incarnation:
    return Incarnation(number)


def granted(number: int, asked_at: float, ttl: float = TTL) -> Granted:
    return Granted(life(number), ttl, asked_at)


def refused(
    holder: HostId | None, number: int, asked_at: float, wait: float = 0
) -> Refused:
    return Refused(holder, life(number), wait, asked_at)


def held_lease(number: int = 7) -> LeaseHolder:
    holder = LeaseHolder(HERE, 0, incarnation=life(number))
    holder.tick(0)
    holder.handle(granted(number, asked_at=0), 0)
    return holder


def claiming(seen: int = 0) -> LeaseHolder:
    holder = LeaseHolder(HERE, 0, seen=life(seen))
    holder.tick(0)
    return holder


SPEAKING = Renew(life(7), is_speaking=True)
SILENT = Renew(life(7), is_speaking=False)


def test_the_host_stops_before_the_relay_stops_waiting() -> None:
    assert host_span(100) == pytest.approx(100 * 0.99 - MARGIN)
    assert relay_span(100) == pytest.approx(101)


def test_a_host_that_begins_with_a_session_fences_it_and_asks_at_once() -> None:
    holder = LeaseHolder(HERE, 3, incarnation=life(7))

    assert holder.next_deadline() == 3
    assert holder.tick(3) == [SelfFence(life(7)), SILENT]
    assert not holder.may_speak(3)


def test_a_lease_continued_from_the_living_holder_needs_no_fence() -> None:
    holder = LeaseHolder(HERE, 3, incarnation=life(7), expires_at=9)

    assert holder.tick(3) == [SPEAKING]
    assert holder.speaking_incarnation(8.9) == 7
    assert holder.speaking_incarnation(9) is None


def test_renews_at_half_time() -> None:
    holder = held_lease()

    assert holder.next_deadline() == TTL / 2
    assert holder.tick(TTL / 2) == [SPEAKING]


def test_an_unanswered_renewal_is_repeated_at_a_steady_pace_until_expiry() -> None:
    holder = held_lease()
    asked_at = []
    while (deadline := holder.next_deadline() or 0) < LAST:
        assert holder.tick(deadline) == [SPEAKING]
        asked_at.append(deadline)

    assert asked_at == [10, 10 + RETRY, 10 + 2 * RETRY, 10 + 3 * RETRY, 10 + 4 * RETRY]


def test_fences_itself_at_expiry_and_keeps_asking() -> None:
    holder = held_lease()
    holder.tick(LAST - 1)

    assert holder.next_deadline() == LAST
    assert holder.tick(LAST) == [SelfFence(life(7))]
    assert holder.tick(LAST + 1) == [SILENT]
    assert holder.next_deadline() == LAST + 1 + RETRY


def test_i4_a_loop_that_slept_through_the_expiry_is_silent_before_any_tick() -> None:
    holder = held_lease()

    assert holder.may_speak(LAST - 0.001)
    assert not holder.may_speak(LAST)
    assert holder.expires_at == LAST


def test_the_first_act_after_a_long_sleep_is_the_fence() -> None:
    holder = held_lease()

    assert holder.handle(Reconnected(), 300) == [SelfFence(life(7))]
    assert holder.handle(granted(7, asked_at=299), 300) == [Unfence(life(7))]


def test_a_fenced_incarnation_granted_again_unchanged_is_unfenced() -> None:
    holder = held_lease()
    holder.tick(30)

    assert holder.handle(granted(7, asked_at=30), 31) == [Unfence(life(7))]
    assert holder.speaking_incarnation(31) == 7


def test_a_grant_that_was_used_up_on_its_way_unfences_nothing() -> None:
    holder = held_lease()
    holder.tick(30)

    assert holder.handle(granted(7, asked_at=30), 30 + LAST) == []
    assert not holder.may_speak(30 + LAST)


def test_i3_a_late_grant_does_not_shorten_the_lease() -> None:
    holder = held_lease()
    holder.handle(granted(7, asked_at=10), 11)

    assert holder.handle(granted(7, asked_at=5), 12) == []
    assert holder.expires_at == 10 + LAST


def test_an_answer_slower_than_half_the_lease_does_not_cause_a_storm() -> None:
    holder = held_lease()
    holder.tick(10)
    holder.tick(18)

    holder.handle(granted(7, asked_at=10), 18.5)

    assert holder.next_deadline() == 20


def test_a_new_link_is_asked_over_at_once() -> None:
    holder = held_lease()

    assert holder.handle(Reconnected(), 4) == []
    assert holder.tick(4) == [SPEAKING]


def test_answers_to_an_earlier_process_are_ignored() -> None:
    holder = LeaseHolder(HERE, 50, incarnation=life(7))
    holder.tick(50)

    assert holder.handle(granted(7, asked_at=49), 50) == []
    assert holder.handle(refused(THERE, 9, asked_at=49), 50) == []
    assert not holder.is_over


def test_a_lower_grant_is_ignored_and_reported() -> None:
    holder = held_lease(7)

    effects = holder.handle(granted(5, asked_at=3), 4)

    assert effects == [ReportRollback(life(7), life(5))]
    assert holder.expires_at == LAST


def test_a_refusal_that_knows_only_a_lower_life_is_reported_and_changes_nothing() -> (
    None
):
    holder = held_lease(7)

    effects = holder.handle(refused(THERE, 5, asked_at=3), 4)

    assert effects == [ReportRollback(life(7), life(5))]
    assert holder.may_speak(4)


def test_a_higher_life_ends_this_one_for_good() -> None:
    holder = held_lease(7)

    effects = holder.handle(refused(THERE, 8, asked_at=3), 4)

    assert effects == [SelfFence(life(7)), Retire(life(7), by=life(8))]
    assert holder.is_over
    assert holder.next_deadline() is None


def test_a_higher_grant_than_the_one_asked_for_ends_this_one_too() -> None:
    holder = held_lease(7)

    effects = holder.handle(granted(8, asked_at=3), 4)

    assert effects == [SelfFence(life(7)), Retire(life(7), by=life(8))]
    assert not holder.may_speak(4)


def test_i5_what_is_over_stays_over() -> None:
    holder = held_lease(7)
    holder.handle(refused(THERE, 8, asked_at=3), 4)

    assert holder.handle(granted(7, asked_at=5), 6) == []
    assert holder.tick(100) == []
    assert not holder.may_speak(6)


def test_an_invalidated_lease_fences_at_once() -> None:
    holder = held_lease(7)

    assert holder.handle(refused(None, 7, asked_at=3), 4) == [SelfFence(life(7))]
    assert holder.handle(refused(None, 7, asked_at=4), 5) == []
    assert not holder.may_speak(4)


def test_i3_a_late_refusal_does_not_fence() -> None:
    holder = held_lease(7)
    holder.handle(granted(7, asked_at=10), 11)

    assert holder.handle(refused(None, 7, asked_at=9), 12) == []
    assert holder.may_speak(12)


def test_a_refusal_that_names_us_as_the_holder_confirms_the_lease() -> None:
    holder = held_lease(7)

    assert holder.handle(refused(HERE, 7, asked_at=3), 4) == []
    assert holder.may_speak(4)


def test_our_own_number_in_other_hands_fences_and_raises_the_alarm() -> None:
    holder = held_lease(7)

    effects = holder.handle(refused(THERE, 7, asked_at=3), 4)

    assert effects == [SelfFence(life(7)), ReportRollback(life(7), life(7))]


def test_a_claim_says_what_it_has_seen_and_begins_with_what_it_is_given() -> None:
    holder = LeaseHolder(HERE, 0, seen=life(4))

    assert holder.tick(0) == [Claim(life(4))]
    assert holder.incarnation is None
    assert holder.handle(granted(5, asked_at=0), 1) == [Begin(life(5))]
    assert holder.speaking_incarnation(1) == holder.incarnation == 5


@pytest.mark.parametrize(
    ("wait", "asks_after"), [(0, RETRY), (12.5, 12.5), (1e9, MAX_WAIT)]
)
def test_a_refused_claim_waits_as_long_as_it_was_told_within_bounds(
    wait: float, asks_after: float
) -> None:
    holder = claiming()

    assert holder.handle(refused(THERE, 4, asked_at=0, wait=wait), 1) == []
    assert holder.next_deadline() == 1 + asks_after
    assert holder.tick(1 + asks_after) == [Claim(life(4))]


@pytest.mark.parametrize("offered", [3, 4])
def test_a_claim_takes_no_number_that_has_lived(offered: int) -> None:
    holder = claiming(seen=4)

    effects = holder.handle(granted(offered, asked_at=0), 1)

    assert effects == [ReportRollback(life(4), life(offered))]
    assert not holder.may_speak(1)


def test_a_claim_reports_a_relay_that_knows_less_than_itself() -> None:
    holder = claiming(seen=4)

    effects = holder.handle(refused(None, 2, asked_at=0), 1)

    assert effects == [ReportRollback(life(4), life(2))]


def test_a_grant_overtaken_by_the_refusal_of_a_repeated_claim_is_still_taken() -> None:
    holder = claiming()
    holder.tick(2)
    holder.handle(refused(HERE, 1, asked_at=2, wait=18), 3)

    assert holder.handle(granted(1, asked_at=0), 4) == [Begin(life(1))]


def test_answers_out_of_order_are_no_proof_of_a_rollback() -> None:
    holder = claiming()
    holder.tick(2)
    holder.handle(granted(5, asked_at=0), 3)

    assert holder.handle(refused(HERE, 4, asked_at=2), 4) == []
    assert holder.handle(granted(4, asked_at=2), 4) == []


def test_giving_up_fences_first_and_then_releases() -> None:
    holder = held_lease(7)

    assert holder.handle(GivenUp(), 4) == [SelfFence(life(7)), Release(life(7))]
    assert holder.handle(granted(7, asked_at=3), 5) == []
    assert not holder.may_speak(5)


def test_giving_up_a_claim_says_nothing() -> None:
    holder = claiming()

    assert holder.handle(GivenUp(), 4) == []
    assert holder.is_over
