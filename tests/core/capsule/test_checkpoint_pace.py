from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.checkpoint_pace import LONGEST, CheckpointPace, Counts, Seen
from holdfast.model.ids import SessionId

A, B = SessionId("s_a"), SessionId("s_b")


def seen(
    session: SessionId = A, count: int = 0, *, every: float = 60, is_able: bool = True
) -> Seen:
    return Seen(session, every, Counts(count, 0), is_able)


def test_i1_the_first_image_is_made_when_its_time_has_passed() -> None:
    pace = CheckpointPace()

    assert pace.look([seen()], 0) is None
    assert pace.look([seen()], 59) is None
    assert pace.look([seen()], 60) == A


def test_i2_the_next_is_made_only_if_something_has_happened() -> None:
    pace = CheckpointPace()
    pace.look([seen()], 0)
    pace.look([seen()], 60)
    pace.made(A, Counts(0, 5), 61)

    quiet = Seen(A, 60, Counts(0, 5))
    assert pace.look([quiet], 200) is None
    assert pace.look([Seen(A, 60, Counts(0, 6))], 201) == A


def test_i2_what_happens_while_an_image_is_made_counts_for_the_next() -> None:
    pace = CheckpointPace()
    pace.look([seen()], 0)
    pace.look([seen(count=1)], 60)
    pace.look([seen(count=2)], 61)
    pace.made(A, Counts(2, 0), 62)

    assert pace.look([seen(count=2)], 121) is None
    assert pace.look([seen(count=2)], 122) == A


def test_i3_none_is_made_while_it_cannot_be() -> None:
    pace = CheckpointPace()
    pace.look([seen()], 0)

    assert pace.look([seen(is_able=False)], 100) is None
    assert pace.look([seen()], 101) == A


def test_i4_one_is_made_at_a_time_and_the_longest_due_first() -> None:
    pace = CheckpointPace()
    pace.look([seen(), seen(B, every=30)], 0)

    assert pace.look([seen(), seen(B, every=30)], 100) == B
    assert pace.look([seen(), seen(B, every=30)], 101) is None
    pace.made(B, Counts(0, 0), 102)
    assert pace.look([seen(), seen(B, every=30)], 102) == A


def test_i5_after_a_failure_it_is_waited_for_longer() -> None:
    pace = CheckpointPace()
    pace.look([seen()], 0)
    now, waits = 0.0, []
    for _ in range(5):
        begun = now
        while pace.look([seen()], now) is None:
            now += 1
        waits.append(now - begun)
        pace.failed(A, now)

    assert waits == [60, 120, 240, 480, 60 * LONGEST]
    while pace.look([seen()], now) is None:
        now += 1
    pace.made(A, None, now)
    assert pace.look([seen()], now + 60) == A


def test_a_session_that_ends_while_its_image_is_made_is_forgotten() -> None:
    pace = CheckpointPace()
    pace.look([seen()], 0)
    pace.look([seen()], 60)

    assert pace.look([seen(B)], 61) is None
    pace.failed(A, 62)
    assert pace.look([seen(B)], 121) == B
    pace.made(A, None, 122)  # Late, and of one that is unknown.
    assert pace.look([seen(B, 1)], 1000) is None


@given(
    st.lists(
        st.tuples(
            st.integers(1, 90), st.booleans(), st.sampled_from(["", "made", "failed"])
        ),
        max_size=40,
    )
)
def test_i1_i2_hold_whatever_happens(steps: list[tuple[int, bool, str]]) -> None:
    pace, now, count = CheckpointPace(), 0.0, 0
    last: tuple[float, int] | None = None
    making = None
    pace.look([seen()], 0)
    for wait, changes, answer in steps:
        now += wait
        count += changes
        chosen = pace.look([seen(count=count)], now)
        if chosen is not None:
            assert making is None, "I4"
            making = count
            assert last is None or (now - last[0] >= 60 and count != last[1]), "I1, I2"
        if making is not None and answer:
            if answer == "made":
                pace.made(A, Counts(making, 0), now)
            else:
                pace.failed(A, now)
            last = (now, making) if answer == "made" else last
            making = None
