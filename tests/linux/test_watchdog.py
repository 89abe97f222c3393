import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.linux.process_activity import Pulse
from holdfast.linux.watchdog import (
    CALM,
    GAP,
    LATE,
    LOOK,
    MAX_CPU,
    MAX_SILENCE,
    SILENCE,
    SLEEP,
    STEP,
    Act,
    Watchdog,
)

STOPPED = Pulse("T", 1.0)
IDLE = Pulse("S", 1.0)


class Story:
    """One process that is watched, and what time it is."""

    def __init__(self, *, pid: int = 7) -> None:
        self.dog = Watchdog()
        self.now = 100.0
        self.dog.watch("a", pid, self.now)

    def until_due(self) -> None:
        due_at = self.dog.next_deadline()
        assert due_at is not None
        self.now = max(self.now, due_at)

    def look(self, pulse: Pulse | None) -> Act:
        """Wait until it is time, and look."""
        self.until_due()
        assert self.dog.due(self.now) == ["a"]
        return self.dog.looked("a", pulse, self.now)

    def watch_until(self, pulse: Pulse | None, act: Act, longest: float) -> float:
        """Return after how many seconds of this pulse an act is demanded."""
        began = self.now
        while self.now - began <= longest:
            if self.look(pulse) is act:
                return self.now - began
        return math.inf


def test_one_that_sleeps_is_left_alone() -> None:
    story = Story()

    assert [story.look(IDLE) for _ in range(50)] == [Act.NOTHING] * 50
    assert story.dog.stalled("a") == ""
    assert story.now == 100 + 50 * LOOK


def test_one_that_is_stopped_is_asked_called_stalled_and_replaced_in_time() -> None:
    story = Story()
    story.look(IDLE)
    began = story.now

    assert story.look(STOPPED) is Act.ASK
    assert story.dog.is_asked("a")
    assert story.look(STOPPED) is Act.NOTHING
    assert story.dog.stalled("a") == "it is stopped"
    assert story.look(STOPPED) is Act.REPLACE

    assert story.now - began == LOOK + SILENCE
    assert story.now - began <= 5
    assert story.dog.stalled("a") == "it was stopped"


def test_one_that_loops_is_replaced_in_time_whenever_it_begins() -> None:
    for tenth in range(20):
        story = Story()
        story.look(Pulse("S", 0.0))
        began = story.now + tenth / 10
        while True:
            story.until_due()
            cpu = max(0.0, story.now - began)
            if story.look(Pulse("R", cpu)) is Act.REPLACE:
                break

        assert story.now - began <= 5
        assert story.dog.stalled("a") == "it ran without an end"


def test_one_that_works_a_lot_and_answers_is_left_alone() -> None:
    story = Story()
    for _ in range(100):
        story.until_due()
        act = story.look(Pulse("R", story.now))
        assert act is not Act.REPLACE
        if act is Act.ASK:
            story.now += STEP / 2
            story.dog.answered("a", story.now)

    assert story.dog.stalled("a") == ""


@pytest.mark.parametrize(
    ("pulse", "why"),
    [
        (Pulse("t", 1.0), "it is being traced"),
        (Pulse("D", 1.0), "it waits for the kernel"),
        (Pulse("R", 0.99 + MAX_CPU / 4), "it does not answer"),
        (Pulse("S", 1.0, is_held=True), "its cgroup is frozen"),
        (Pulse("T", 1.0, is_held=True), "its cgroup is frozen"),
    ],
)
def test_what_is_no_evidence_is_said_and_never_acted_upon(
    pulse: Pulse, why: str
) -> None:
    story = Story()
    story.look(IDLE)
    story.look(STOPPED)
    assert story.dog.is_asked("a")

    assert story.watch_until(pulse, Act.REPLACE, 1000) == math.inf
    assert story.dog.stalled("a") == why


def test_one_that_is_loading_its_code_is_not_called_late() -> None:
    story = Story()
    story.look(Pulse("S", 0))
    story.look(Pulse("R", 1))

    assert story.watch_until(Pulse("R", 1.9), Act.REPLACE, 100) == math.inf


def test_one_that_sleeps_after_it_was_asked_is_given_long() -> None:
    story = Story()
    story.dog.answered("a", story.now)
    assert story.look(Pulse("t", 1.0)) is Act.ASK

    assert story.watch_until(IDLE, Act.REPLACE, 1000) == SLEEP
    assert story.dog.stalled("a") == "it did not answer"


def test_one_that_may_not_know_how_to_answer_may_sleep_for_ever() -> None:
    story = Story()
    assert story.look(Pulse("t", 1.0)) is Act.ASK

    assert story.watch_until(IDLE, Act.REPLACE, 1000) == math.inf


def test_one_that_is_not_shown_to_us_is_asked() -> None:
    story = Story()
    assert story.look(None) is Act.ASK
    story.dog.answered("a", story.now)
    assert story.look(None) is Act.ASK

    assert story.watch_until(None, Act.REPLACE, 1000) == SLEEP


def test_one_that_goes_on_again_and_answers_was_never_away() -> None:
    story = Story()
    story.look(STOPPED)
    story.look(STOPPED)
    assert story.dog.stalled("a")

    story.dog.answered("a", story.now)

    assert story.dog.stalled("a") == ""
    assert not story.dog.is_asked("a")
    assert [story.look(IDLE) for _ in range(10)] == [Act.NOTHING] * 10


def test_one_that_hangs_again_and_again_is_given_more_time_each_time() -> None:
    story = Story()
    waits = []
    for pid in range(10, 20):
        assert story.watch_until(STOPPED, Act.ASK, 10) < 10
        waits.append(story.watch_until(STOPPED, Act.REPLACE, 1000))
        story.dog.rest("a")
        assert story.dog.next_deadline() is None
        story.dog.watch("a", pid, story.now)

    assert waits[0] == SILENCE
    assert waits == sorted(waits)
    assert waits[-1] == MAX_SILENCE


def test_after_a_calm_time_the_next_replacement_is_the_first_again() -> None:
    story = Story()
    for pid in (8, 9):
        story.watch_until(STOPPED, Act.REPLACE, 100)
        story.dog.watch("a", pid, story.now)
    story.watch_until(IDLE, Act.REPLACE, CALM + 1)
    story.watch_until(STOPPED, Act.REPLACE, 100)
    assert story.dog.watches["a"].replaced == 1


def test_after_it_was_killed_it_is_not_killed_again_at_once() -> None:
    story = Story()
    story.watch_until(STOPPED, Act.REPLACE, 100)

    assert story.dog.stalled("a")
    assert story.look(STOPPED) is Act.ASK
    assert story.dog.watches["a"].replaced == 1


def test_time_in_which_the_watcher_did_not_run_counts_for_nobody() -> None:
    story = Story()
    assert story.look(STOPPED) is Act.ASK
    for _ in range(20):
        story.until_due()
        story.now += GAP + 0.01
        assert story.look(STOPPED) is Act.ASK


def test_a_small_delay_of_the_watcher_is_no_excuse() -> None:
    story = Story()
    assert story.look(STOPPED) is Act.ASK
    story.until_due()
    story.now += GAP - 0.01
    assert story.look(STOPPED) is Act.REPLACE


def test_another_process_of_the_name_begins_anew() -> None:
    story = Story()
    story.look(STOPPED)
    story.look(STOPPED)

    story.dog.watch("a", 8, story.now)

    assert story.dog.stalled("a") == ""
    assert story.look(IDLE) is Act.NOTHING


def test_the_same_process_may_be_given_another_limit() -> None:
    story = Story()
    story.look(Pulse("S", 0))
    story.dog.answered("a", story.now)
    story.dog.watch("a", 7, story.now, max_cpu=10)
    story.look(Pulse("R", 2))

    assert story.watch_until(Pulse("R", 4.4), Act.REPLACE, 100) == math.inf
    assert story.watch_until(Pulse("R", 4.5), Act.REPLACE, 100) == STEP


def test_on_a_busy_machine_less_work_is_evidence_after_a_while() -> None:
    story = Story()
    story.dog.answered("a", story.now)
    story.look(Pulse("S", 0))
    used = 0.0
    began = story.now
    while True:
        used += 0.12 * ((story.dog.next_deadline() or 0) - story.now)
        if story.look(Pulse("R", used)) is Act.REPLACE:
            break

    assert used < MAX_CPU
    assert LATE <= story.now - began <= LOOK + LATE + STEP


def test_who_was_never_replaced_is_forgotten_when_it_is_gone() -> None:
    story = Story()
    story.dog.rest("a")

    assert story.dog.watches == {}
    story.dog.rest("a")
    story.dog.drop("a")
    story.dog.answered("a", 1.0)
    assert story.dog.stalled("a") == ""
    assert story.dog.next_deadline() is None
    assert story.dog.due(1.0) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from("TtDSRX"),
            st.floats(0, 3),
            st.booleans(),
            st.sampled_from(["look", "late", "answer"]),
        ),
        max_size=60,
    )
)
def test_nothing_is_replaced_that_answers_or_without_two_looks(
    steps: list[tuple[str, float, bool, str]],
) -> None:
    story = Story()
    cpu, asked_at, looks = 0.0, math.inf, 0
    for letter, used, is_held, how in steps:
        cpu += used
        story.until_due()
        if how == "late":
            story.now += GAP * 2
            asked_at, looks = math.inf, 0
        if how == "answer":
            story.dog.answered("a", story.now)
            asked_at, looks = math.inf, 0
            continue
        act = story.look(Pulse(letter, cpu, is_held=is_held))
        looks += 1
        if act is Act.ASK:
            asked_at, looks = story.now, 0
        if act is Act.REPLACE:
            assert looks >= 2
            assert story.now - asked_at >= SILENCE
            assert not is_held
            asked_at = math.inf
