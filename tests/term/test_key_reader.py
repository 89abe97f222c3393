import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.client.key_names import NAMED, bytes_of
from holdfast.term.key_reader import MAX_SEQUENCE, KeyReader, Mouse, Paste, Pressed

UNREAD = {"Insert", "Space", *(f"F{number}" for number in range(1, 13))}
"""Keys that can be sent by name, and that no screen of ours uses."""

PIECES = st.lists(
    st.sampled_from(
        [
            *(b"a", "é".encode(), "日".encode(), b"\x1b[A", b"\x1bOB", b"\x1b[5~"),
            *(b"\x1b[1;5C", b"\x1b[<0;3;4M", b"\x1b[M !!", b"\x1b[M\x1b\x1b\x1b"),
            *(b"\r", b"\x7f", b"\x1b", b"\x1b[", b"\x1b[12", b"\x1bO", b"\xff"),
            *(b"\x1bf", b"[", b"O", b"200~", b"\x1b[200~", b"\x1b[201~", b"\x1b[ "),
            *(b"\xe4\xb8", b"1" * MAX_SEQUENCE, b"~", b"\xc2\x85"),
        ]
    )
).map(b"".join)


def joined(pressed: list[Pressed]) -> list[Pressed]:
    """Return what was pressed, with the pieces of a paste in one."""
    found: list[Pressed] = []
    for one in pressed:
        before = found[-1] if found else ""
        if isinstance(one, Paste) and isinstance(before, Paste):
            found[-1] = Paste(before.text + one.text)
        else:
            found.append(one)
    return found


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"ab ", ["a", "b", " "]),
        ("é漢👍".encode(), ["é", "漢", "👍"]),
        (b"\r\n\x1bOM", ["Enter", "Enter", "Enter"]),
        (b"\x7f\x08\t\x00", ["BSpace", "BSpace", "Tab", "C-Space"]),
        (b"\x01\x04\x1a", ["C-a", "C-d", "C-z"]),
        (b"\x1c\x1d\x1e\x1f", ["C-\\", "C-]", "C-^", "C-_"]),
        (b"\x1b[A\x1bOB\x1b[C\x1bOD", ["Up", "Down", "Right", "Left"]),
        (b"\x1b[H\x1bOF\x1b[Z", ["Home", "End", "BTab"]),
        (b"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", ["Home", "End", "Home", "End"]),
        (b"\x1b[3~\x1b[5~\x1b[6~", ["Delete", "PageUp", "PageDown"]),
        (b"\x1b[1;5A\x1b[5;2~", ["Up", "PageUp"]),
        (b"\x1bf\x1b<\x1b\r", ["M-f", "M-<", "M-Enter"]),
        ("\x1bé".encode(), ["M-é"]),
        (b"\x1b\x1b[A", ["Escape", "Up"]),
        (b"\x1b\x01\x1b\xff", ["M-C-a", "Escape"]),
    ],
)
def test_a_key_has_a_name(data: bytes, keys: list[Pressed]) -> None:
    assert KeyReader().read(data) == keys


@pytest.mark.parametrize("name", sorted(NAMED.keys() - UNREAD))
def test_keys_are_named_as_they_are_sent(name: str) -> None:
    reader = KeyReader()

    assert reader.read(bytes_of(name)) + reader.waited() == [name]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[99~",
        b"\x1bOx",
        b"\x1b[?1;2c",
        b"\x1b[ q",
        b"\x1b[I",
        b"\x1b[M !!",
        b"\x1b[201~",
        b"\xff",
        b"\xe4",
        b"\xe4\xb8",
        b"\xed\xa0\x80",
        b"\xc2\x85",
        b"\x1b\xc2\x85",
        b"\x1b[<0;1M",
        b"\x1b[<0;;1M",
        b"\x1b[<0;:;1M",
        b"\x1b[<0;12345;1M",
        b"\x1b[<0;1;1A",
    ],
)
def test_i2_what_is_no_key_is_passed_over(data: bytes) -> None:
    assert KeyReader().read(data + b"q") == ["q"]


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\x1b[1\x1b[A", ["Up"]),
        (b"\x1b[1\x01q", ["C-a", "q"]),
        (b"\x1b[\x1fx", ["C-_", "x"]),
        (b"\x1bO\rq", ["Enter", "q"]),
        (b"\xe2\x28\xa1", ["("]),
    ],
)
def test_a_sequence_that_breaks_off_ends_where_the_next_begins(
    data: bytes, keys: list[Pressed]
) -> None:
    assert KeyReader().read(data) == keys


def test_escape_is_pressed_when_nothing_follows() -> None:
    reader = KeyReader()
    assert reader.read(b"a\x1b") == ["a"]
    assert reader.waits

    assert reader.waited() == ["Escape"]
    assert not reader.waits
    assert reader.waited() == []
    assert reader.read(b"[A") == ["[", "A"]


def test_escape_twice_is_two_keys() -> None:
    reader = KeyReader()

    assert reader.read(b"\x1b\x1b") + reader.waited() == ["Escape", "Escape"]


@pytest.mark.parametrize(
    ("begun", "rest", "key"),
    [(b"\x1b[1;", b"2A", "Up"), (b"\x1bO", b"B", "Down"), (b"\xe4\xb8", b"\xad", "中")],
)
def test_only_escape_is_a_key_when_nothing_follows(
    begun: bytes, rest: bytes, key: str
) -> None:
    reader = KeyReader()

    assert reader.read(begun) == []
    assert not reader.waits
    assert reader.waited() == []
    assert reader.read(rest) == [key]


def test_i3_a_sequence_without_end_is_not_kept_and_is_no_key() -> None:
    reader = KeyReader()
    assert reader.read(b"\x1b[") == []
    for _ in range(100):
        assert reader.read(b"1" * 100) == []
        assert len(reader._held) <= MAX_SEQUENCE  # noqa: SLF001  # what is kept
    assert reader.read(b"Aq\x1b[A") == ["q", "Up"]


@pytest.mark.parametrize("size", [MAX_SEQUENCE - 3, MAX_SEQUENCE - 2])
def test_i3_a_sequence_is_a_key_up_to_a_length(size: int) -> None:
    keys = ["Up"] if size < MAX_SEQUENCE - 2 else []

    assert KeyReader().read(b"\x1b[" + b"1" * size + b"A") == keys


def test_what_is_pasted_is_no_key() -> None:
    assert KeyReader().read(b"\x1b[200~q\rx\x1b[A\x1b[201~a") == [
        Paste("q\rx\x1b[A"),
        "a",
    ]
    assert KeyReader().read(b"\x1b[200~\x1b[201~a") == ["a"]
    assert KeyReader().read(b"\x1b[200~\xff\xe4\x1b[201~") == [Paste("\ufffd\ufffd")]


def test_i2_a_paste_lasts_until_its_end_however_long_that_takes() -> None:
    reader = KeyReader()
    assert reader.read(b"\x1b[200~q\xe4\xb8") == [Paste("q")]
    assert reader.waited() == []

    assert reader.read(b"\xad\x1b") == [Paste("中")]
    assert not reader.waits
    assert reader.waited() == []

    assert reader.read(b"x" * 100_000) == [Paste("\x1b" + "x" * 100_000)]
    assert reader.read(b"y\x1b[201") == [Paste("y")]
    assert reader.read(b"~q") == ["q"]


def test_the_mouse_is_told_of() -> None:
    assert KeyReader().read(b"\x1b[<64;3;4M\x1b[<0;1;1m\x1b[<0;0;0M") == [
        Mouse(64, 2, 3),
        Mouse(0, 0, 0, is_release=True),
        Mouse(0, 0, 0),
    ]


def test_the_mouse_says_what_it_did() -> None:
    buttons = (64, 65, 64 + 16, 66, 67, 0)
    assert [Mouse(one, 0, 0).wheel for one in buttons] == [-1, 1, -1, 0, 0, 0]
    assert Mouse(0, 0, 0).is_press
    assert Mouse(16, 0, 0).is_press
    assert not Mouse(2, 0, 0).is_press
    assert Mouse(32, 0, 0).is_drag
    assert not Mouse(0, 0, 0, is_release=True).is_press
    assert not Mouse(32, 0, 0, is_release=True).is_drag


@given(PIECES | st.binary(max_size=40), st.data())
def test_i1_however_the_bytes_are_cut_the_same_comes_out(
    data: bytes, draw: st.DataObject
) -> None:
    whole, parts = KeyReader(), KeyReader()
    places = sorted(draw.draw(st.lists(st.integers(0, len(data)))))
    cuts = zip([0, *places], [*places, len(data)], strict=True)

    expected = whole.read(data) + whole.waited()
    found = [one for start, end in cuts for one in parts.read(data[start:end])]

    assert joined(found + parts.waited()) == joined(expected)


@given(st.lists(st.binary(max_size=200)))
def test_i3_whatever_comes_little_is_kept(pieces: list[bytes]) -> None:
    reader = KeyReader()
    for piece in pieces:
        reader.read(piece)
        assert len(reader._held) <= MAX_SEQUENCE  # noqa: SLF001  # what is kept
