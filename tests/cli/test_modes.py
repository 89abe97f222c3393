from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.modes import ModeWatch

NOTHING = ModeWatch().undo()

SEQUENCES = st.lists(
    st.sampled_from(
        [
            *(b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25l", b"\x1b[?25h", b"\x1b[?7l"),
            *(
                b"\x1b[?1000;1006h",
                b"\x1b[?2004h",
                b"\x1b[>1u",
                b"\x1b[<u",
                b"\x1b[=5u",
            ),
            *(b"\x1b=", b"\x1b>", b"\x1b[>4;2m", b"\x1b[2;9r", b"\x1b[r", b"\x1b[4 q"),
            *(b"\x1b[22;0t", b"\x1b[23;0t"),
            *(b"\x1bc", b"\x1b[31m", b"text", b"\x1b", b"\x1b[?", b"\x1b[<9;u"),
            b"\x1b[?" + b"9" * 80 + b"h",
        ]
    )
).map(b"".join)


def undone(data: bytes) -> bytes:
    watch = ModeWatch()
    watch.feed(data)
    return watch.undo().removeprefix(NOTHING)


@pytest.mark.parametrize(
    ("left_on", "undoing"),
    [
        (b"plain text", b""),
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?1049h\x1b[?1049l", b""),
        (b"\x1b[?25l", b"\x1b[?25h"),
        (b"\x1b[?25l\x1b[?25h", b""),
        (b"\x1b[?25h\x1b[?7h", b""),
        (b"\x1b[?1000;1006h", b"\x1b[?1000l\x1b[?1006l"),
        (b"\x1b[?2004h", b"\x1b[?2004l"),
        (b"\x1b[?12345h", b""),
        (b"\x1b[?1049h\x1b[?25l\x1b[?1h", b"\x1b[?1l\x1b[?25h\x1b[?1049l"),
        (b"\x1b[>1u\x1b[>5u", b"\x1b[<2u"),
        (b"\x1b[>1u\x1b[>5u\x1b[<9u", b""),
        (b"\x1b[=5u", b"\x1b[=0u"),
        (b"\x1b[>4;2m", b"\x1b[>4m"),
        (b"\x1b[>4;2m\x1b[>4m", b""),
        (b"\x1b=", b"\x1b>"),
        (b"\x1b[3 q", b"\x1b[0 q"),
        (b"\x1b[2;20r", b"\x1b7\x1b[r\x1b8"),
        (b"\x1b[?1003h\x1bc", b""),
        (b"\x1b[22;0;0t", b"\x1b[23;2t"),
        (b"\x1b[22;2t\x1b[22t\x1b[23;0;0t", b"\x1b[23;2t"),
        (b"\x1b[22;1t\x1b[23;2t\x1b[2t", b""),
    ],
)
def test_exactly_what_was_left_on_is_undone(left_on: bytes, undoing: bytes) -> None:
    assert undone(left_on) == undoing


@given(SEQUENCES, st.lists(st.integers(0, 200)))
def test_i1_where_the_stream_is_cut_does_not_matter(
    data: bytes, cuts: list[int]
) -> None:
    watch = ModeWatch()
    marks = [0, *sorted(cuts), len(data)]
    for begin, end in pairwise(marks):
        watch.feed(data[begin:end])

    assert watch.undo().removeprefix(NOTHING) == undone(data)


@given(SEQUENCES)
def test_i2_what_was_undone_is_not_on(data: bytes) -> None:
    watch = ModeWatch()
    watch.feed(data)
    watch.undo()

    assert watch.undo() == NOTHING


@pytest.mark.parametrize(
    ("on", "off", "again"),
    [
        (b"text", b"", b"\x1b[?25h"),
        (b"\x1b[?25l", b"", b"\x1b[?25l"),
        (
            b"\x1b[?1;1002;1006;2004h",
            b"\x1b[?1l\x1b[?1002l\x1b[?1006l\x1b[?2004l",
            b"\x1b[?1h\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?25h",
        ),
        (b"\x1b[>4;2m", b"\x1b[>4m", b"\x1b[>4;2m\x1b[?25h"),
        (b"\x1b[>1u", b"\x1b[>0u", b"\x1b[<1u\x1b[?25h"),
        (b"\x1b[=1u", b"\x1b[>0u", b"\x1b[<1u\x1b[?25h"),
        (b"\x1b=", b"\x1b>", b"\x1b=\x1b[?25h"),
        (b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?25h\x1b[?7l"),
    ],
)
def test_what_changes_keys_is_off_for_a_while(
    on: bytes, off: bytes, again: bytes
) -> None:
    watch = ModeWatch()
    watch.feed(on)

    assert watch.suspended() == (off, again)
    assert watch.suspended() == (off, again)


@pytest.mark.parametrize(
    ("data", "can_be"),
    [
        (b"text\x1b[?2004h", True),
        (b"\x1b[?1049h", False),
        (b"\x1b[2;9r", False),
        (b"\x1b[2;9r\x1b[r", True),
        (b"\x1b[?6h", False),
    ],
)
def test_a_screen_is_covered_only_where_it_can_be_shown_again(
    data: bytes,
    can_be: bool,  # noqa: FBT001  # what is expected
) -> None:
    watch = ModeWatch()
    watch.feed(data)

    assert watch.can_be_covered is can_be
