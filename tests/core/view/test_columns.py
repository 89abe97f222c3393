import pytest

from holdfast.core.view.columns import columns_of, fitted, sliced, width_of


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
