import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.term.alternate import OVERLAP, last_switch


@pytest.mark.parametrize(
    ("printed", "is_shown"),
    [
        (b"", None),
        (b"text", None),
        (b"\x1b[?25h", None),
        (b"\x1b[?1049h", True),
        (b"\x1b[?1047h", True),
        (b"\x1b[?47h", True),
        (b"\x1b[?1049h vim \x1b[?1049l$ ", False),
        (b"\x1b[?1049l\x1b[?47h", True),
        (b"\x1b[?1049h\x1b[?1049", True),
        (b"\x1b[?1049", None),
        (b"\x1b[?470h", None),
    ],
)
def test_the_last_switch_counts(printed: bytes, is_shown: bool | None) -> None:  # noqa: FBT001  # a value
    assert last_switch(printed) is is_shown


PIECES = st.sampled_from([b"\x1b[?1049h", b"\x1b[?1047l", b"\x1b[?47h", b"x", b"\x1b["])


@given(st.lists(PIECES, max_size=8), st.data())
def test_i1_any_cut_gives_the_same_answer(
    pieces: list[bytes], data: st.DataObject
) -> None:
    printed = b"".join(pieces)
    cut = data.draw(st.integers(0, len(printed)))

    before = last_switch(printed[:cut])
    after = last_switch(printed[max(0, cut - OVERLAP) :])

    assert (before if after is None else after) == last_switch(printed)
