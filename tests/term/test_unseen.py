import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import PeerError
from holdfast.term.cells import MAX_RUNS, Run
from holdfast.term.looks import EXACT, Look
from holdfast.term.unseen import (
    MAX_IN_ROW,
    MAX_SUSPECT,
    TURNING,
    Hidden,
    Palette,
    Reason,
    all_hidden,
    contrast,
    hidden_in,
    reason_from,
)

GREY = Palette([number * 0x010101 for number in range(256)])
BLANKS = st.sampled_from(" ab漢\u200b\u202e\u200d\ufe0f🙂")
ROWS = st.lists(st.text(BLANKS, max_size=30), max_size=4)


def found(*runs: Run, palette: Palette = GREY) -> list[tuple[int, int, str]]:
    line = "".join(run.text for run in runs)
    return [
        (one.start, one.end, one.reason.value)
        for one in hidden_in([line], runs, palette)
    ]


def in_text(line: str) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.reason) for one in hidden_in([line], [], GREY)]


@given(ROWS, st.data())
def test_i1_stretches_are_in_order_apart_and_within_their_row(
    lines: list[str], data: st.DataObject
) -> None:
    runs = [
        Run(row, piece, look=data.draw(st.sampled_from([0, Look.INVISIBLE])))
        for row, line in enumerate(lines)
        for piece in (line[: len(line) // 2], line[len(line) // 2 :])
    ]

    seen = hidden_in(lines, runs, GREY)
    assert list(seen) == sorted(seen, key=lambda one: (one.row, one.start))
    for one, later in pairwise(seen):
        assert one.row < later.row or one.end <= later.start
    assert all(0 <= one.start < one.end <= len(lines[one.row]) for one in seen)


@given(st.text(BLANKS, min_size=1, max_size=30))
def test_i2_every_character_that_turns_and_every_concealed_letter_is_in_one(
    line: str,
) -> None:
    covered = {
        at
        for one in hidden_in([line], [Run(0, line, look=Look.INVISIBLE)], GREY)
        for at in range(one.start, one.end)
    }

    assert {at for at, one in enumerate(line) if one != " "} <= covered
    turning = {match.start() for match in TURNING.finditer(line)}
    bare = hidden_in([line], [], GREY)
    assert turning <= {at for one in bare for at in range(one.start, one.end)}


def test_i3_a_row_full_of_them_is_one_warning() -> None:
    line = "a\u200b" * (MAX_IN_ROW + 1)

    assert in_text(line) == [(1, len(line), "mixed")]
    assert len(in_text("a\u200b" * MAX_IN_ROW)) == MAX_IN_ROW


def test_a_row_with_more_than_are_looked_at_is_hidden_as_a_whole() -> None:
    assert in_text("❤\ufe0f" * MAX_SUSPECT) == []

    line = "❤\ufe0f" * (MAX_SUSPECT + 1)
    assert in_text(line) == [(0, len(line), "mixed")]


@pytest.mark.parametrize(
    "line",
    [
        "zero\u200bwidth",
        "join\u200der",
        "non\u200cjoiner",
        "soft\xadhyphen",
        "word\u2060joiner",
        "bom\ufeff",
        "tags\U000e0041\U000e0042",
        "filler\u3164",
        "half filler\uffa0",
        "selector\ufe01",
        "many\U0001f642\ufe0f\ufe0e\ufe0f",
        "\u200dfirst",
        "last\u200d",
        "\ufe0f",
    ],
)
def test_t28_characters_that_show_nothing_are_found(line: str) -> None:
    assert {reason for _, _, reason in in_text(line)} == {"zero-width"}


@pytest.mark.parametrize("turn", "\u202a\u202b\u202d\u202e\u2066\u2067\u200f\u061c")
def test_t28_characters_that_turn_the_reading_order_are_found(turn: str) -> None:
    assert in_text(f"rm {turn}txt.exe") == [(3, 4, "bidi")]


@pytest.mark.parametrize(
    "line",
    [
        "plain",
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648",
        "क्\u200dष",
        "漢字\U000e0100",
        "שלום עולם",
        "e\u0301",
    ],
)
def test_what_belongs_to_an_emoji_or_to_its_script_is_left_alone(line: str) -> None:
    assert in_text(line) == []


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (Run(0, "x", look=Look.INVISIBLE), "concealed"),
        (Run(0, "x", foreground=2, background=2), "same-colour"),
        (Run(0, "x", foreground=10, background=11), "same-colour"),
        (Run(0, "x", foreground=EXACT + 0x101010, background=17), "same-colour"),
        (Run(0, "x", foreground=1, background=1, look=Look.INVERSE), "same-colour"),
        (Run(0, "x", foreground=1, background=256), None),
        (Run(0, "x", foreground=52, background=1), None),
        (Run(0, "x", foreground=1), None),
        (Run(0, "x", background=1), None),
        (Run(0, "x"), None),
        (Run(0, "x", look=Look.INVERSE | Look.FAINT), None),
    ],
)
def test_t28_text_that_has_no_colour_of_its_own_is_found(
    run: Run, reason: str | None
) -> None:
    assert found(run) == ([(0, 1, reason)] if reason else [])


def test_t28_the_terminal_s_own_colours_count_once_they_are_known() -> None:
    black = Palette(GREY.numbered, foreground=0, background=0)
    half = Palette(GREY.numbered, background=0)

    assert found(Run(0, "x"), palette=black) == [(0, 1, "same-colour")]
    assert found(Run(0, "x", look=Look.INVERSE), palette=black)
    assert found(Run(0, "x", foreground=1), palette=half) == [(0, 1, "same-colour")]
    assert found(Run(0, "x"), palette=half) == []


def test_blanks_around_and_blanks_alone_hide_nothing() -> None:
    concealed = Look.INVISIBLE

    assert found(Run(0, "a "), Run(0, "  b c  ", look=concealed)) == [
        (4, 7, "concealed")
    ]
    assert found(Run(0, "    ", look=concealed)) == []


def test_neighbours_of_one_kind_are_one_and_what_overlaps_is_mixed() -> None:
    hidden = Look.INVISIBLE

    assert found(Run(0, "ab", look=hidden), Run(0, "cd", 2, look=hidden)) == [
        (0, 4, "concealed")
    ]
    assert found(Run(0, "ab", look=hidden), Run(0, "cd", 2, 2)) == [
        (0, 2, "concealed"),
        (2, 4, "same-colour"),
    ]
    assert found(Run(0, "a\u200db", look=hidden)) == [(0, 3, "mixed")]


def test_rows_whose_colours_are_not_known_are_not_taken_for_harmless() -> None:
    runs = [Run(0, "x")] * (MAX_RUNS - 1) + [Run(2, "x")]

    seen = hidden_in(["x", "y", "z", ""], runs, GREY)
    assert seen == (Hidden(2, 0, 1, Reason.MIXED), Hidden(3, 0, 1, Reason.MIXED))


def test_a_screen_that_cannot_be_looked_through_is_hidden_row_by_row() -> None:
    assert all_hidden(["ab", "", "c"]) == (
        Hidden(0, 0, 2, Reason.MIXED),
        Hidden(2, 0, 1, Reason.MIXED),
    )


def test_contrast_goes_from_1_to_21() -> None:
    assert contrast(0, 0) == contrast(0x123456, 0x123456) == 1
    assert contrast(0, 0xFFFFFF) == contrast(0xFFFFFF, 0) == pytest.approx(21)


def test_a_stretch_is_its_place_and_a_word() -> None:
    one = Hidden(1, 2, 5, Reason.BIDI)

    assert one.to_object() == [1, 2, 5, "bidi"]
    assert Hidden.from_object([1, 2, 5, "bidi"]) == one


@given(
    st.builds(Hidden, st.just(1), st.just(2), st.integers(3), st.sampled_from(Reason))
)
def test_a_stretch_is_read_as_it_was_written(one: Hidden) -> None:
    assert Hidden.from_object(json.loads(json.dumps(one.to_object()))) == one


@pytest.mark.parametrize(
    "read",
    [
        None,
        [],
        [0, 0, 1],
        [0, 1, 1, "bidi"],
        [-1, 0, 1, "bidi"],
        [0, -1, 1, "bidi"],
        [0, 0, 1, "other"],
        [0, "0", 1, "bidi"],
    ],
)
def test_what_is_no_stretch_is_refused(read: object) -> None:
    with pytest.raises(PeerError):
        Hidden.from_object(read)


def test_a_reason_of_a_later_version_is_some_reason() -> None:
    assert reason_from("bidi") is Reason.BIDI
    assert reason_from("holographic") is Reason.MIXED
