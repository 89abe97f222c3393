import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.number_gap import FIRST, GAP, NoGap, free_number


@pytest.mark.parametrize(
    ("used", "found"),
    [
        ([], FIRST),
        ([100, 101], FIRST),
        ([FIRST + GAP + 1], FIRST),
        ([FIRST + GAP], FIRST + GAP),
        ([700, 1200, 2500], 1200),
        ([40_000], FIRST),
    ],
)
def test_the_first_gap_is_taken(used: list[int], found: int) -> None:
    assert free_number(used, 32768) == found


def test_an_image_without_a_gap_is_refused() -> None:
    with pytest.raises(NoGap):
        free_number(range(500, 5000, 500), 5000)


@given(st.frozensets(st.integers(1, 40_000), max_size=60))
def test_no_number_after_it_is_used_properties(used: frozenset[int]) -> None:
    try:
        found = free_number(used, 32768)
    except NoGap:
        return
    assert not used & set(range(found + 1, found + GAP + 1))
    assert found + GAP < 32768
