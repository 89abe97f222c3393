"""I1 to I3 of core/autonomy/effects.py, for whatever is expected and seen."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.autonomy.effects import Effects, Seen, compare, is_open
from holdfast.model.expectations import Expectation

names = st.text("ab/*.", min_size=1, max_size=5)
paths = st.lists(st.text("ab/.", min_size=1, max_size=5), max_size=4).map(tuple)
ports = st.lists(st.integers(1, 4), max_size=3).map(tuple)
expectations = st.builds(
    Expectation,
    files=st.lists(names, max_size=3).map(tuple),
    ports=ports,
    processes=st.lists(names, max_size=3).map(tuple),
)
sights = st.builds(Seen, paths, paths, paths, paths, ports)


@given(expectations, sights)
def test_nothing_is_matched_that_is_not_expected_and_named(
    expected: Expectation, seen: Seen
) -> None:
    if compare(expected, seen).effects is Effects.MATCHED:
        assert set(seen.ports) <= set(expected.ports)
        assert expected.files or not seen.made + seen.changed + seen.deleted
        assert not any(map(is_open, expected.files))


@given(expectations, sights, paths, ports)
def test_more_that_is_seen_makes_nothing_milder(
    expected: Expectation,
    seen: Seen,
    more: tuple[str, ...],
    opened: tuple[int, ...],
) -> None:
    wider = replace(seen, made=seen.made + more, ports=seen.ports + opened)
    if compare(expected, seen).effects is Effects.UNINTENDED:
        assert compare(expected, wider).effects is Effects.UNINTENDED


@given(expectations, sights)
def test_what_was_not_looked_at_whole_is_never_matched(
    expected: Expectation, seen: Seen
) -> None:
    part = replace(seen, missing="something")

    assert compare(expected, part).effects is not Effects.MATCHED
