from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.expired_records import (
    KEEP_FOR,
    KEEP_LOG_FOR,
    MAX_RECORDS,
    Ended,
    Leftover,
    files_to_clear,
    records_to_clear,
)
from holdfast.model.ids import SessionId

NOW = 10 * KEEP_FOR

records = st.lists(
    st.builds(
        Ended,
        st.integers(0, 10_000).map(lambda n: SessionId(f"s_{n}")),
        st.none() | st.floats(0, 2 * NOW),
        st.booleans(),
    ),
    max_size=MAX_RECORDS + 50,
    unique_by=lambda one: one.session,
)


def ended(name: str, ago: float, *, is_kept: bool = False) -> Ended:
    return Ended(SessionId(name), NOW - ago, is_kept)


def test_what_ended_more_than_a_day_ago_goes_and_the_rest_stays() -> None:
    found = [ended("s_new", 10), ended("s_old", KEEP_FOR + 1)]

    assert records_to_clear(found, NOW) == ["s_old"]


def test_i1_what_is_kept_stays_however_old() -> None:
    assert records_to_clear([ended("s_1", NOW, is_kept=True)], NOW) == []


def test_i2_the_oldest_go_when_there_are_too_many() -> None:
    found = [ended(f"s_{ago}", ago) for ago in range(MAX_RECORDS + 2)]

    assert records_to_clear(found, NOW) == [
        f"s_{MAX_RECORDS + 1}",
        f"s_{MAX_RECORDS}",
    ]


def test_an_end_that_lies_ahead_or_was_not_noted_waits() -> None:
    found = [ended("s_1", -2 * KEEP_FOR), Ended(SessionId("s_2"), None)]

    assert records_to_clear(found, NOW) == []


@given(records)
def test_the_invariants_hold_for_any_records(found: list[Ended]) -> None:
    cleared = set(records_to_clear(found, NOW))
    unmarked = [one for one in found if not one.is_kept]
    left = [one for one in unmarked if one.session not in cleared]

    assert cleared <= {one.session for one in unmarked}, "I1"
    assert len(left) <= MAX_RECORDS, "I2"
    noted = [one.ended_wall for one in left if one.ended_wall is not None]
    for one in unmarked:
        if one.session in cleared and one.ended_wall is not None:
            assert all(one.ended_wall <= other for other in noted), "I3"


def test_i4_only_a_file_that_nobody_knows_goes_and_only_when_it_is_old() -> None:
    def left(name: str, ago: float, *, has_socket: bool = False) -> Leftover:
        return Leftover(SessionId(name), NOW - ago, has_socket)

    found = [
        left("s_gone", KEEP_LOG_FOR + 1),
        left("s_young", KEEP_LOG_FOR - 1),
        left("s_known", KEEP_LOG_FOR + 1),
        left("s_alive", KEEP_LOG_FOR + 1, has_socket=True),
    ]

    assert files_to_clear(found, {SessionId("s_known")}, NOW) == ["s_gone"]


def test_the_files_of_a_session_that_never_lived_go_after_a_day() -> None:
    young, old = NOW - KEEP_FOR + 1, NOW - KEEP_FOR
    found = [
        Leftover(SessionId("s_young"), young, has_socket=False, has_logbook=False),
        Leftover(SessionId("s_old"), old, has_socket=False, has_logbook=False),
        Leftover(SessionId("s_booked"), old, has_socket=False),
    ]

    assert files_to_clear(found, set(), NOW) == ["s_old"]
