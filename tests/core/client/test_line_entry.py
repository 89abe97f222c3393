from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.line_entry import LineEntry

KEYS = [
    *("Left", "Right", "Home", "End", "BSpace", "Delete", "C-u", "C-k", "C-w"),
    *("Up", "a", " ", "日"),
]


def typed(text: str, *keys: str) -> tuple[str, int]:
    entry = LineEntry(text)
    for key in keys:
        entry.pressed(key)
    return entry.text, entry.cursor


def test_letters_go_where_the_cursor_is() -> None:
    assert typed("web", "2") == ("web2", 4)
    assert typed("web", "Home", "a", "b") == ("abweb", 2)
    assert typed("web", "Left", "Left", "x", "Right") == ("wxeb", 3)


def test_the_keys_of_emacs_move_and_delete() -> None:
    assert typed("web", "C-a", "C-f", "C-d", "C-e", "C-b", "x") == ("wxb", 2)


def test_letters_are_taken_out() -> None:
    assert typed("web", "BSpace") == ("we", 2)
    assert typed("web", "Home", "BSpace", "Delete") == ("eb", 0)
    assert typed("one two ", "C-w") == ("one", 3)
    assert typed("web", "Left", "C-u") == ("b", 0)
    assert typed("web", "Home", "Right", "C-k") == ("w", 1)


def test_other_keys_do_nothing() -> None:
    assert typed("web", "Up", "PageDown", "End") == ("web", 3)


@given(st.lists(st.sampled_from(KEYS)))
def test_the_cursor_stays_in_the_line_and_the_line_in_its_limit(
    keys: list[str],
) -> None:
    entry = LineEntry("abc", 5)
    for key in keys:
        entry.pressed(key)

        assert 0 <= entry.cursor <= len(entry.text) <= 5
