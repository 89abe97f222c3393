import math
from dataclasses import replace

import pytest

from holdfast.core.session.idle_sessions import (
    MISSED,
    PACE,
    Action,
    Activity,
    Departed,
    Effect,
    Observed,
    Policy,
    Reap,
    Reaped,
    Reaper,
    ReapRefused,
    Reason,
    Standing,
    Unwarn,
    Warn,
    has_job,
)
from holdfast.model.ids import SessionId

S = SessionId("s_one")
T = SessionId("s_two")
U = SessionId("s_three")
QUIET = Activity(output_bytes=100, inputs=3, cpu_ticks=50)
POLICY = Policy(window=100, warning=20, action=Action.END)
STEP = int(PACE)


def look(
    reaper: Reaper, now: float, activity: Activity = QUIET, session: SessionId = S
) -> list[Effect]:
    return [*reaper.handle(Observed(session, activity), now), *reaper.tick(now)]


def looks(
    reaper: Reaper, since: int, until: int, *sessions: SessionId
) -> list[tuple[int, Effect]]:
    return [
        (now, effect)
        for now in range(since, until + 1, STEP)
        for session in sessions or (S,)
        for effect in look(reaper, now, session=session)
    ]


def test_an_idle_session_is_warned_and_reaped_once() -> None:
    reaper = Reaper(POLICY)

    assert looks(reaper, 0, 300) == [
        (80, Warn(S, reap_in=20)),
        (100, Reap(S, Action.END, idle=100, reason=Reason.IDLE_WINDOW)),
    ]


def test_the_warning_comes_at_its_time_even_between_two_looks() -> None:
    reaper = Reaper(replace(POLICY, window=105))
    looks(reaper, 0, 80)

    assert reaper.next_deadline() == 85
    assert reaper.tick(85) == [Warn(S, reap_in=20)]
    assert reaper.next_deadline() is None


def test_the_clock_alone_reaps_nothing_that_nobody_has_looked_at() -> None:
    reaper = Reaper(replace(POLICY, window=95))
    looks(reaper, 0, 90)

    assert reaper.tick(96) == []
    assert look(reaper, 97, replace(QUIET, cpu_ticks=51)) == [Unwarn(S)]


@pytest.mark.parametrize(
    "activity",
    [
        replace(QUIET, attached=1),
        replace(QUIET, output_bytes=101),
        replace(QUIET, inputs=4),
        replace(QUIET, cpu_ticks=49),
        replace(QUIET, foreground_job=True),
        replace(QUIET, spared="kept"),
    ],
)
def test_any_activity_takes_the_warning_back_and_begins_the_time_anew(
    activity: Activity,
) -> None:
    reaper = Reaper(POLICY)
    looks(reaper, 0, 80)

    assert look(reaper, 90, activity) == [Unwarn(S)]
    assert reaper.idle(S, 90) == 0
    assert look(reaper, 100, activity) == []


@pytest.mark.parametrize(
    "activity",
    [Activity(attached=1), Activity(foreground_job=True), Activity(spared="kept")],
)
def test_what_is_live_or_kept_is_never_reaped(activity: Activity) -> None:
    reaper = Reaper(replace(POLICY, max_resident=0))

    for now in range(0, 1000, STEP):
        assert look(reaper, now, activity) == []
    assert reaper.next_deadline() is None


def test_i4_time_in_which_nobody_looked_is_not_idle_time() -> None:
    reaper = Reaper(POLICY)
    looks(reaper, 0, 50)

    assert reaper.tick(3600) == []
    assert reaper.next_deadline() is None
    assert reaper.idle(S, 3600) == 50
    assert look(reaper, 3600) == []
    assert reaper.idle(S, 3600) == 50
    assert looks(reaper, 3610, 3700) == [
        (3630, Warn(S, reap_in=20)),
        (3650, Reap(S, Action.END, idle=100, reason=Reason.IDLE_WINDOW)),
    ]


def test_i4_a_warning_that_was_slept_through_is_given_its_whole_time() -> None:
    reaper = Reaper(POLICY)
    looks(reaper, 0, 90)

    assert looks(reaper, 5000, 5050) == [
        (5010, Reap(S, Action.END, idle=100, reason=Reason.IDLE_WINDOW))
    ]


def test_i4_sleep_does_not_use_up_a_warning_for_the_cap() -> None:
    reaper = Reaper(replace(POLICY, max_resident=0))
    looks(reaper, 0, 10)

    assert looks(reaper, 5000, 5010) == []
    assert looks(reaper, 5020, 5020) == [
        (5020, Reap(S, Action.END, idle=30, reason=Reason.POPULATION_CAP))
    ]


def test_i2_a_warning_that_was_late_still_stands_for_its_whole_time() -> None:
    reaper = Reaper(POLICY)
    for now in range(0, 121, STEP):
        reaper.handle(Observed(S, QUIET), now)

    assert reaper.tick(120) == [Warn(S, reap_in=20)]
    assert look(reaper, 130) == []
    assert look(reaper, 140) == [Reap(S, Action.END, 140, Reason.IDLE_WINDOW)]


def test_i4_what_began_anew_before_a_sleep_is_not_idle_after_it() -> None:
    reaper = Reaper(POLICY)
    looks(reaper, 0, 100)
    reaper.handle(ReapRefused(S), 105)
    look(reaper, 5000)

    assert reaper.idle(S, 5000) == 0


def test_a_gap_of_exactly_the_bound_still_counts() -> None:
    reaper = Reaper(POLICY)
    look(reaper, 0)
    look(reaper, MISSED * PACE)

    assert reaper.idle(S, MISSED * PACE) == MISSED * PACE


def test_i3_reaping_is_said_once_until_it_is_refused() -> None:
    reaper = Reaper(POLICY)
    looks(reaper, 0, 100)

    assert look(reaper, 110) == []
    assert look(reaper, 120, replace(QUIET, attached=1)) == []
    assert reaper.handle(ReapRefused(S), 121) == []
    assert looks(reaper, 130, 229) == [(210, Warn(S, reap_in=20))]


def test_a_refused_reap_begins_the_time_anew() -> None:
    reaper = Reaper(replace(POLICY, action=Action.CHECKPOINT))
    looks(reaper, 0, 100)
    reaper.handle(ReapRefused(S), 101)

    assert looks(reaper, 110, 210) == [
        (190, Warn(S, reap_in=20)),
        (210, Reap(S, Action.CHECKPOINT, idle=109, reason=Reason.IDLE_WINDOW)),
    ]


@pytest.mark.parametrize("gone", [Reaped(S), Departed(S)])
def test_what_is_gone_is_forgotten(gone: Reaped | Departed) -> None:
    reaper = Reaper(POLICY)
    looks(reaper, 0, 100)
    reaper.handle(gone, 101)

    assert reaper.handle(gone, 101) == []
    assert reaper.handle(ReapRefused(S), 101) == []
    assert reaper.idle(S, 101) is None
    assert reaper.tick(101) == []


def test_every_event_is_followed_by_a_tick() -> None:
    reaper = Reaper(POLICY)

    reaper.handle(Departed(S), 7)

    assert reaper.next_deadline() == 7


def test_i5_over_the_cap_the_longest_idle_goes_first() -> None:
    reaper = Reaper(replace(POLICY, max_resident=2))
    look(reaper, 0, session=T)

    assert looks(reaper, 10, 50, S, T, U) == [
        (10, Warn(T, 20, Reason.POPULATION_CAP)),
        (30, Reap(T, Action.END, idle=30, reason=Reason.POPULATION_CAP)),
    ]


def test_i5_a_session_seen_once_is_not_known_to_be_idle() -> None:
    reaper = Reaper(replace(POLICY, max_resident=0))

    assert look(reaper, 0) == []
    assert look(reaper, 10) == [Warn(S, 20, Reason.POPULATION_CAP)]


def test_a_warning_for_the_cap_is_taken_back_when_there_is_room_again() -> None:
    reaper = Reaper(replace(POLICY, max_resident=1))
    looks(reaper, 0, 10, S, T)

    reaper.handle(Departed(T), 12)

    assert reaper.tick(12) == [Unwarn(S)]


def test_without_a_warning_time_it_is_reaped_with_the_warning() -> None:
    reaper = Reaper(replace(POLICY, warning=0))

    assert looks(reaper, 0, 100) == [
        (100, Warn(S, reap_in=0)),
        (100, Reap(S, Action.END, idle=100, reason=Reason.IDLE_WINDOW)),
    ]


def test_i5_over_the_memory_cap_as_many_go_as_it_takes() -> None:
    reaper = Reaper(replace(POLICY, max_memory=100))
    sizes = {S: 60, T: 0, U: 70}
    told = []

    for now in range(0, 41, STEP):
        for session, memory in sizes.items():
            told += reaper.handle(Observed(session, QUIET, memory), now)
        told += reaper.tick(now)

    # The longest idle has nothing in memory; all are idle for as long, and by name.
    assert told == [
        Warn(S, 20, Reason.MEMORY_CAP),
        Reap(S, Action.END, idle=30, reason=Reason.MEMORY_CAP),
    ]


def test_what_is_over_the_cap_and_has_been_idle_for_the_window_is_reaped_for_that() -> (
    None
):
    reaper = Reaper(replace(POLICY, max_resident=0, warning=95))

    (at, _), (late, reaped) = looks(reaper, 0, 200)

    assert (at, late) == (10, 110)
    assert reaped == Reap(S, Action.END, idle=110, reason=Reason.IDLE_WINDOW)


def test_without_a_window_the_caps_alone_decide() -> None:
    reaper = Reaper(replace(POLICY, window=math.inf, max_resident=1))
    look(reaper, 0)

    assert look(reaper, 10) == []
    assert reaper.next_deadline() is None
    assert reaper.standings(10) == [Standing(S, 10, "there is room for it", None, None)]
    assert looks(reaper, 20, 50, S, T)[-1] == (
        40,
        Reap(S, Action.END, idle=40, reason=Reason.POPULATION_CAP),
    )


@pytest.mark.parametrize(
    ("activity", "why"),
    [
        (Activity(attached=1), "somebody is attached"),
        (Activity(foreground_job=True), "a job runs in the foreground"),
        (Activity(attached=1, spared="it is kept"), "it is kept"),
    ],
)
def test_a_standing_says_why_a_session_is_not_reaped(
    activity: Activity, why: str
) -> None:
    reaper = Reaper(POLICY)
    look(reaper, 0, activity)

    assert reaper.standings(10) == [Standing(S, 0, why, None, None)]


def test_a_standing_says_when_a_session_is_reaped_and_why() -> None:
    reaper = Reaper(POLICY)
    look(reaper, 0)
    look(reaper, 5, session=T)

    assert reaper.standings(10) == [
        Standing(S, 10, "", Reason.IDLE_WINDOW, 90),
        Standing(T, 5, "", Reason.IDLE_WINDOW, 95),
    ]


def test_a_standing_counts_the_warning_that_was_given() -> None:
    reaper = Reaper(replace(POLICY, max_resident=0))
    looks(reaper, 0, 20)

    assert reaper.standings(20) == [Standing(S, 20, "", Reason.POPULATION_CAP, 10)]
    assert reaper.standings(40) == [Standing(S, 40, "", Reason.POPULATION_CAP, 0)]


def test_the_pace_of_the_policy_says_how_long_a_look_is_good_for() -> None:
    reaper = Reaper(replace(POLICY, pace=100))
    look(reaper, 0)

    assert reaper.idle(S, 300) == 300
    assert reaper.idle(S, 301) == 0


@pytest.mark.parametrize(
    ("word", "is_leader", "is_job"),
    [
        ("at-prompt", True, False),
        ("at-prompt", False, False),
        ("waiting-for-input", True, False),
        ("idle", True, False),
        ("waiting-for-input", False, True),
        ("idle", False, True),
        ("running", True, True),
        ("waiting-for-secret", True, True),
        ("", True, True),
    ],
)
def test_a_job_is_what_has_the_terminal_and_is_no_prompt(
    word: str, *, is_leader: bool, is_job: bool
) -> None:
    assert has_job(word, is_leader=is_leader) is is_job
