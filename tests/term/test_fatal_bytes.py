from hypothesis import given
from hypothesis import strategies as st

from holdfast.term.fatal_bytes import MAX_FATAL, FatalBytes, Stretch

OFFSETS = st.integers(0, 60)
STRETCHES = st.tuples(OFFSETS, OFFSETS).map(sorted).map(tuple)


def lacks_something(fatal: FatalBytes) -> bool:
    return fatal.clear(0, 60) != [Stretch(0, 60)]


def test_one_death_proves_nothing() -> None:
    fatal = FatalBytes()
    fatal.died(10, 20)

    assert not lacks_something(fatal)
    assert fatal.clear(0, 30) == [Stretch(0, 30)]


def test_after_two_deaths_over_the_same_bytes_they_are_left_out() -> None:
    fatal = FatalBytes()
    fatal.died(10, 20)
    fatal.died(15, 25)

    assert lacks_something(fatal)
    assert fatal.clear(0, 30) == [Stretch(0, 10), Stretch(25, 30)]
    assert fatal.clear(12, 20) == []
    assert fatal.clear(26, 30) == [Stretch(26, 30)]
    assert fatal.clear(0, 5) == [Stretch(0, 5)]


def test_a_stain_makes_what_follows_it_no_suspect() -> None:
    fatal = FatalBytes()
    for start, end in ((10, 20), (10, 20), (15, 30)):
        fatal.died(start, end)

    assert fatal.clear(0, 40) == [Stretch(0, 10), Stretch(20, 40)]


def test_two_deaths_over_different_bytes_are_two_accidents() -> None:
    fatal = FatalBytes()
    fatal.died(10, 20)
    fatal.died(20, 30)

    assert not lacks_something(fatal)


def test_bytes_that_were_survived_are_no_longer_suspect() -> None:
    fatal = FatalBytes()
    fatal.died(10, 20)
    fatal.painted(20)
    fatal.painted(21)
    fatal.died(10, 20)

    assert not lacks_something(fatal)


def test_having_painted_up_to_the_suspect_proves_nothing_yet() -> None:
    fatal = FatalBytes()
    fatal.died(10, 20)
    fatal.painted(20)
    fatal.died(20, 20)

    assert lacks_something(fatal)


def test_a_question_that_kills_twice_makes_what_was_painted_last_the_stain() -> None:
    fatal = FatalBytes()
    fatal.died(40, 40)
    fatal.died(40, 40)

    assert fatal.clear(0, 50) == [Stretch(0, 39), Stretch(40, 50)]


def test_a_stain_that_has_rolled_off_degrades_no_longer() -> None:
    fatal = FatalBytes()
    fatal.died(10, 20)
    fatal.died(10, 20)

    fatal.rolled(19)
    assert lacks_something(fatal)
    fatal.rolled(20)
    assert not lacks_something(fatal)


@given(
    deaths=st.lists(STRETCHES.filter(lambda pair: pair[0] < pair[1])), asked=STRETCHES
)
def test_i1_i2_nothing_is_painted_to_death_three_times(
    deaths: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    fatal = FatalBytes()
    for start, end in deaths:
        fatal.died(start, end)
        fatal.died(start, end)

    parts = fatal.clear(*asked)
    painted = [byte for part in parts for byte in range(part.start, part.end)]
    stained = {byte for start, end in deaths for byte in range(start, end)}
    assert painted == sorted(set(painted))
    assert not stained & set(painted)
    assert set(painted) <= set(range(*asked))
    assert len(deaths) > MAX_FATAL or set(range(*asked)) - stained == set(painted)


@given(starts=st.sets(st.integers(0, 5000), min_size=MAX_FATAL + 1, max_size=40))
def test_i3_many_stains_are_joined_and_none_is_forgotten(starts: set[int]) -> None:
    fatal = FatalBytes()
    for start in starts:
        fatal.died(2 * start, 2 * start + 1)
        fatal.died(2 * start, 2 * start + 1)

    parts = fatal.clear(0, 20_000)
    assert len(parts) <= MAX_FATAL + 1
    assert not any(p.start <= 2 * s < p.end for p in parts for s in starts)


def test_i3_of_too_many_stains_the_nearest_two_become_one() -> None:
    fatal = FatalBytes()
    apart = [100 * number for number in range(MAX_FATAL)]
    for start in (*apart, 305):
        fatal.died(start, start + 1)
        fatal.died(start, start + 1)

    parts = fatal.clear(0, 100 * MAX_FATAL)
    assert len(parts) == MAX_FATAL
    assert Stretch(301, 305) not in parts
    assert [part.start for part in parts] == [
        306 if start == 300 else start + 1 for start in apart
    ]


def test_fatal_bytes_that_meet_become_one() -> None:
    fatal = FatalBytes()
    for start, end in ((10, 20), (30, 40), (5, 35)):
        fatal.died(start, end)
        fatal.died(start, end)

    assert fatal.clear(0, 50) == [Stretch(0, 5), Stretch(40, 50)]


def test_i3_as_many_stains_as_that_stay_apart() -> None:
    fatal = FatalBytes()
    for number in range(MAX_FATAL):
        for _ in range(2):
            fatal.died(10 * number, 10 * number + 1)

    assert len(fatal.clear(0, 10 * MAX_FATAL)) == MAX_FATAL
