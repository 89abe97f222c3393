import math

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.attention import BURST, RATE, SETTLE, Calls
from holdfast.model.session_record import (
    BELL,
    MESSAGE,
    NEEDS_INPUT,
    NO_ATTENTION,
    PROGRAM,
    Attention,
)

RUNG = Attention(BELL, "", 1, PROGRAM)
SAID = Attention(MESSAGE, "done", 2, PROGRAM)
NEEDED = Attention(NEEDS_INPUT, "may I?", 3, "a_bot")
WEIGHTS = {BELL: 1, MESSAGE: 2, NEEDS_INPUT: 3}


def test_a_call_is_told_at_once_and_stands_until_somebody_types() -> None:
    calls = Calls(0)

    assert calls.called(SAID, 1) == SAID
    assert (calls.standing, calls.is_quiet) == (SAID, False)
    assert calls.typed() == SAID
    assert (calls.standing, calls.is_quiet) == (NO_ATTENTION, True)


def test_what_a_predecessor_told_stands() -> None:
    calls = Calls(0, SAID)

    assert calls.called(SAID._replace(since_ms=99), 1) is None
    assert calls.standing == SAID
    assert calls.typed() == SAID


def test_typing_where_nothing_stands_is_nothing() -> None:
    assert Calls(0).typed() is None


def test_the_same_call_is_told_again_after_somebody_typed() -> None:
    calls = Calls(0)
    calls.called(RUNG, 1)
    calls.typed()

    assert calls.called(RUNG, 2) == RUNG


def test_a_call_that_says_more_is_told_and_one_that_says_less_is_not() -> None:
    calls = Calls(0)

    told = [calls.called(one, 1) for one in (RUNG, SAID, RUNG, NEEDED, SAID)]

    assert told == [RUNG, SAID, None, NEEDED, None]


def test_a_word_of_a_later_version_stands_against_all_else() -> None:
    calls = Calls(0, Attention("shouts", "", 1, PROGRAM))

    assert calls.called(SAID, 1) is None


def test_another_text_is_another_call() -> None:
    calls = Calls(0)
    calls.called(SAID, 1)
    other = SAID._replace(text="done, and tested")

    assert calls.called(other, 2) == other


def test_a_bell_after_a_key_waits_and_is_forgotten_when_another_key_comes() -> None:
    calls = Calls(0)

    assert calls.called(RUNG, 10.01, typed_at=10) is None
    assert calls.next_deadline() == 10 + SETTLE
    assert not calls.is_quiet
    assert calls.typed() is None
    assert (calls.next_deadline(), calls.tick(11)) == (None, None)


def test_a_bell_after_the_last_key_is_told_when_it_has_waited() -> None:
    calls = Calls(0)
    calls.called(RUNG, 10.01, typed_at=10)

    assert calls.tick(10.1) is None
    assert calls.tick(10 + SETTLE) == RUNG
    assert calls.next_deadline() is None


def test_a_message_waits_for_no_bell() -> None:
    calls = Calls(0)
    calls.called(RUNG, 10.01, typed_at=10)

    assert calls.called(SAID, 10.02, typed_at=10) == SAID


def test_a_flood_is_told_slowly_and_ends_with_the_last() -> None:
    calls = Calls(0)
    flood = [SAID._replace(text=f"{number}") for number in range(1000)]

    told = [one for one in (calls.called(each, 1) for each in flood) if one]

    assert told == flood[:BURST]
    due = calls.next_deadline()
    assert due == 1 + 1 / RATE
    assert calls.tick(due - 0.1) is None
    assert calls.tick(due) == flood[-1]


def test_what_is_called_and_taken_back_in_between_is_not_told() -> None:
    calls = Calls(0)
    for number in range(BURST + 1):
        calls.called(SAID._replace(text=f"{number}"), 1)

    assert calls.called(SAID._replace(text=f"{BURST - 1}"), 1) is None
    assert calls.next_deadline() is None


STEPS = st.lists(
    st.tuples(
        st.floats(0, 0.5),
        st.one_of(
            st.none(),
            st.builds(
                Attention,
                st.sampled_from([BELL, MESSAGE, NEEDS_INPUT]),
                st.sampled_from(["", "a", "b"]),
                st.just(1),
                st.just(PROGRAM),
            ),
        ),
    ),
    max_size=60,
)


@given(STEPS)
def test_the_invariants_hold_whatever_happens(
    steps: list[tuple[float, Attention | None]],
) -> None:
    calls, now, typed_at = Calls(0), 0.0, -math.inf
    told: list[tuple[float, Attention]] = []
    standing = NO_ATTENTION
    for pause, call in steps:
        now += pause
        found = [calls.tick(now)]
        if call is None:
            calls.typed()
            typed_at, standing = now, NO_ATTENTION
            assert calls.is_quiet  # I2
            continue
        found.append(calls.called(call, now, typed_at))
        for one in filter(None, found):
            told.append((now, one))
            assert WEIGHTS[one.what] >= WEIGHTS.get(standing.what, 0)  # I3
            assert one != standing
            standing = one
        if len(told) < BURST:  # I4
            assert (calls.next_deadline() or now) <= now + SETTLE
    for number, (at, _) in enumerate(told):  # I1
        since = [each for each, _ in told[number:]]
        assert len(since) <= BURST + RATE * (since[-1] - at) + 1e-6
