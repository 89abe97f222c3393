from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.line_entry import LineEntry

KEYS = [
    *("left", "right", "home", "end", "backspace", "delete", "clear", "cut", "word"),
    *("up", "a", " ", "日"),
]


def typed(text: str, *keys: str) -> tuple[str, int]:
    entry = LineEntry(text)
    for key in keys:
        entry.pressed(key)
    return entry.text, entry.cursor


def test_letters_go_where_the_cursor_is() -> None:
    assert typed("web", "2") == ("web2", 4)
    assert typed("web", "home", "a", "b") == ("abweb", 2)
    assert typed("web", "left", "left", "x", "right") == ("wxeb", 3)


def test_letters_are_taken_out() -> None:
    assert typed("web", "backspace") == ("we", 2)
    assert typed("web", "home", "backspace", "delete") == ("eb", 0)
    assert typed("one two ", "word") == ("one", 3)
    assert typed("web", "left", "clear") == ("b", 0)
    assert typed("web", "home", "right", "cut") == ("w", 1)


def test_other_keys_do_nothing() -> None:
    assert typed("web", "up", "page-down", "end") == ("web", 3)


@given(st.lists(st.sampled_from(KEYS)))
def test_the_cursor_stays_in_the_line_and_the_line_in_its_limit(
    keys: list[str],
) -> None:
    entry = LineEntry("abc", 5)
    for key in keys:
        entry.pressed(key)

        assert 0 <= entry.cursor <= len(entry.text) <= 5
