import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.text_width import columns_of, fitted, padded, sliced, width_of


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("👨‍👩", 4), ("❤\ufe0f", 1)],
)
def test_columns_are_counted_as_the_emulator_counts(text: str, columns: int) -> None:
    assert columns_of(text) == columns
    assert sum(map(width_of, text)) == columns


@pytest.mark.parametrize(
    ("text", "start", "end", "shown"),
    [
        ("abcdef", 2, 4, "cd"),
        ("a漢b", 0, 2, "a "),
        ("a漢b", 2, 4, " b"),
        ("a漢b", 1, 3, "漢"),
        ("xe\u0301y", 1, 2, "e\u0301"),
        ("xe\u0301y", 2, 3, "y"),
        ("漢", 5, 9, ""),
    ],
)
def test_a_letter_that_is_cut_in_two_leaves_a_space(
    text: str, start: int, end: int, shown: str
) -> None:
    assert sliced(text, start, end) == shown


@pytest.mark.parametrize(
    ("columns", "shown"), [(6, "abcdef"), (4, "abc…"), (1, "…"), (0, ""), (-3, "")]
)
def test_what_does_not_fit_ends_in_dots(columns: int, shown: str) -> None:
    assert fitted("abcdef", columns) == shown


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("abc", 5, "abc  "),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("abcd", 1, "…"),
        ("abcd", 0, ""),
        ("日本語", 4, "日 …"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_a_text_is_filled_up_or_cut(text: str, room: int, shown: str) -> None:
    assert padded(text, room) == shown


@given(st.text(alphabet="ab日\u0301…"), st.integers(0, 12))
def test_what_is_padded_fits_exactly(text: str, room: int) -> None:
    assert columns_of(padded(text, room)) == room
