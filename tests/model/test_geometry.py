import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import SizeOutOfRange
from holdfast.model.geometry import DEFAULT_SIZE, MAX_SIDE, Size, clamped

sides = st.integers(1, MAX_SIDE)


@given(sides, sides)
def test_a_size_that_can_be_is_kept_as_it_is(columns: int, rows: int) -> None:
    assert clamped(columns, rows) == Size(columns, rows)


@pytest.mark.parametrize("side", [0, -1, MAX_SIDE + 1, 65535, 2**63])
def test_a_size_that_cannot_be_is_refused(side: int) -> None:
    with pytest.raises(SizeOutOfRange) as refusal:
        Size(side, 24)
    with pytest.raises(SizeOutOfRange):
        Size(80, side)
    assert refusal.value.facts == {"columns": side, "rows": 24}


@given(st.integers(), st.integers())
def test_whatever_a_terminal_says_about_itself_becomes_a_size(
    columns: int, rows: int
) -> None:
    size = clamped(columns, rows)

    assert 1 <= size.columns <= MAX_SIDE
    assert 1 <= size.rows <= MAX_SIDE
    assert clamped(size.columns, size.rows) == size


def test_the_default_is_what_terminals_have_always_been() -> None:
    assert Size(columns=80, rows=24) == DEFAULT_SIZE
