import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import PeerError
from holdfast.model.geometry import Size
from holdfast.term.cells import Run, clean
from holdfast.term.screen import MAX_CELL, MAX_TITLE, Screen
from holdfast.term.unseen import Hidden, Reason

WHOLE = Screen(Size(4, 2), ("ab", "c")).to_object()
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
REASONS = st.sampled_from(Reason)
HIDDEN = st.builds(
    Hidden, st.integers(0, 12), st.integers(0, 9), st.integers(10, 40), REASONS
)
SCREENS = st.builds(
    Screen,
    size=st.builds(Size, st.integers(1, 9), st.integers(1, 9)),
    lines=st.lists(ANY_TEXT, max_size=12).map(tuple),
    cursor_row=st.integers(-5, 20),
    cursor_column=st.integers(-5, 20),
    cursor_visible=st.booleans(),
    title=ANY_TEXT.map(lambda text: text * 20),
    alternate=st.booleans(),
    runs=st.lists(st.builds(Run, st.integers(0, 12), ANY_TEXT), max_size=4).map(tuple),
    hidden=st.lists(HIDDEN, max_size=4).map(tuple),
    above=st.integers(-1, 3_000_000),
)


@given(screen=SCREENS)
def test_i1_no_text_holds_a_control_character(screen: Screen) -> None:
    texts = [*screen.lines, screen.title]

    assert not any(re.search("[\x00-\x1f\x7f-\x9f\u202e\u2028]", t) for t in texts)
    assert "\n".join(texts).encode()


@given(screen=SCREENS)
def test_i4_what_is_said_to_be_hidden_is_on_the_screen(screen: Screen) -> None:
    for one in screen.hidden:
        assert one.start < one.end <= len(screen.lines[one.row])


@given(screen=SCREENS)
def test_i2_the_measures_fit(screen: Screen) -> None:
    assert len(screen.lines) == screen.size.rows
    assert 0 <= screen.cursor_row < screen.size.rows
    assert 0 <= screen.cursor_column < screen.size.columns


@given(screen=SCREENS)
def test_i3_what_was_written_down_is_read_again(screen: Screen) -> None:
    read = json.loads(json.dumps(screen.to_object()))

    assert Screen.from_object(read) == screen


@pytest.mark.parametrize(
    "read",
    [
        None,
        [],
        {},
        WHOLE | {"size": [0, 0]},
        WHOLE | {"size": [80]},
        WHOLE | {"size": ["a", "b"]},
        WHOLE | {"cursor": None},
        WHOLE | {"visible": 1},
        WHOLE | {"hidden": None},
        WHOLE | {"hidden": [[0, 0]]},
        WHOLE | {"above": "1"},
        WHOLE | {"alternate": None},
        WHOLE | {"title": 3},
        WHOLE | {"lines": "ab"},
        WHOLE | {"lines": [1]},
        WHOLE | {"runs": None},
        WHOLE | {"runs": [[0, "x"]]},
    ],
    ids=str,
)
def test_i3_what_is_no_screen_is_refused(read: Any) -> None:  # noqa: ANN401
    with pytest.raises(PeerError):
        Screen.from_object(read)


def test_a_run_below_the_last_row_is_left_out() -> None:
    screen = Screen(Size(9, 2), (), runs=(Run(1, "in"), Run(2, "out")))

    assert screen.runs == (Run(1, "in"),)


def test_the_text_ends_with_the_last_line_that_has_any() -> None:
    assert Screen(Size(9, 4), ("", "a b", "")).text() == "\na b"


def test_emoji_stay_whole() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f e\u0301"

    assert clean(family) == family


def test_what_combines_without_end_is_cut_off() -> None:
    screen = Screen(Size(2, 1), ("e" + "\u0301" * 100_000,), title="t" * 10_000)

    assert len(screen.lines[0]) == 2 * MAX_CELL
    assert len(screen.title) == MAX_TITLE
