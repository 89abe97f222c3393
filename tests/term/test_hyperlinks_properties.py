from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.term.hyperlinks import LinkFilter

PIECES = st.sampled_from(
    [
        *(b"\x1b", b"]", b"[", b"P", b"_", b"X", b"8", b"0", b";", b"1", b"m", b" "),
        *(b"\x9d", b"\x9b", b"\x90", b"\x9c", b"\xc2", b"\x07", b"\x18", b"\x00"),
        *(b"\x1b]8;", b"\x1b\\", b"\x1b[1;", "╝8;".encode(), b"q", b"\x7f"),
    ]
)
STREAMS = st.lists(PIECES, max_size=24).map(b"".join)


def filtered(chunks: list[bytes]) -> bytes:
    links = LinkFilter()
    return b"".join(links.feed(chunk) for chunk in chunks)


@given(stream=STREAMS, data=st.data())
@example(stream=b"\x1bPq\x9d2\x9d8;", data=None)
def test_i1_any_cut_gives_the_same(stream: bytes, data: st.DataObject | None) -> None:
    if data is None:
        cuts = list(range(len(stream)))
    else:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    edges = [0, *cuts, len(stream)]
    chunks = [stream[a:b] for a, b in pairwise(edges)]

    assert filtered(chunks) == filtered([stream])


@given(stream=STREAMS)
def test_i2_only_digits_are_put_in_and_nothing_is_held(stream: bytes) -> None:
    shown = filtered([stream])
    rest = iter(shown)

    assert all(byte in rest for byte in stream)
    assert set(shown) <= set(stream) | {ord("0")}


@given(stream=STREAMS)
def test_what_came_out_is_not_changed_again(stream: bytes) -> None:
    once = filtered([stream])

    assert filtered([once]) == once


@given(text=st.text().filter(lambda text: "\x1b" not in text))
def test_i4_text_is_never_changed(text: str) -> None:
    assert filtered([text.encode(errors="replace")]) == text.encode(errors="replace")
