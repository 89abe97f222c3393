import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.text_width import fitted, width


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("a日", 3)]
)
def test_a_text_takes_so_many_columns(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("abc", 5, "abc  "),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("abcd", 1, "…"),
        ("abcd", 0, ""),
        ("日本語", 4, "日… "),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_a_text_is_filled_up_or_cut(text: str, room: int, shown: str) -> None:
    assert fitted(text, room) == shown


@given(st.text(alphabet="ab日\u0301…"), st.integers(0, 12))
def test_what_is_fitted_fits_exactly(text: str, room: int) -> None:
    assert width(fitted(text, room)) == room
