import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.key_reader import KeyReader

PIECES = st.lists(
    st.sampled_from(
        [
            *(b"a", "é".encode(), "日".encode(), b"\x1b[A", b"\x1bOB", b"\x1b[5~"),
            *(b"\x1b[1;5C", b"\x1b[<0;3;4M", b"\x1b[M !!", b"\x1b[M\x1b\x1b\x1b"),
            *(b"\r", b"\x7f", b"\x1b", b"\x1b[", b"\x1b[12", b"\x1bO", b"\xff"),
        ]
    )
).map(b"".join)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"ab ", ["a", "b", " "]),
        ("é日".encode(), ["é", "日"]),
        (b"\x1b[A\x1bOB", ["up", "down"]),
        (b"\x1b[C\x1b[D\x1b[H\x1b[F", ["right", "left", "home", "end"]),
        (b"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", ["home", "end", "home", "end"]),
        (b"\x1b[3~\x1b[5~\x1b[6~", ["delete", "page-up", "page-down"]),
        (b"\x1b[1;5A\x1b[5;2~", ["up", "page-up"]),
        (b"\x1bOM\r\n", ["enter", "enter", "enter"]),
        (b"\x0e\x10\t", ["down", "up", "down"]),
        (b"\x01\x02\x05\x06\x04", ["home", "left", "end", "right", "delete"]),
        (b"\x08\x7f\x0b\x15\x17", ["backspace", "backspace", "cut", "clear", "word"]),
        (b"\x03\x07\x1d", ["cancel", "cancel", "cancel"]),
        (b"\x00\x0f", []),
        (b"\x1bx", ["cancel", "x"]),
        (b"\x1b\x1b[A", ["cancel", "up"]),
        (b"\x1b[99~\x1b[Zq\x1bOzq", ["q", "q"]),
        (b"\x1b[200~a\x1b[201~", ["a"]),
        (b"\x1b[<0;3;4Mq", ["q"]),
        (b"\x1b[M !!q", ["q"]),
        (b"\x1b[1\x01q", ["home", "q"]),
        (b"a\xff\xfeb", ["a", "b"]),
    ],
)
def test_bytes_are_keys(data: bytes, keys: list[str]) -> None:
    assert KeyReader().read(data) == keys


def test_escape_is_pressed_when_nothing_follows() -> None:
    reader = KeyReader()
    assert reader.read(b"a\x1b") == ["a"]
    assert reader.waits

    assert reader.waited() == ["cancel"]
    assert not reader.waits
    assert reader.waited() == []


def test_half_a_sequence_is_forgotten_after_a_while() -> None:
    reader = KeyReader()
    assert reader.read(b"\x1b[1") == []
    assert not reader.waits

    assert reader.waited() == []
    assert reader.read(b"x") == ["x"]


def test_a_sequence_without_end_is_not_remembered() -> None:
    reader = KeyReader()
    assert reader.read(b"\x1b[") == []
    for _ in range(100):
        assert reader.read(b"1" * 100) == []
        assert len(reader._held) <= 32  # noqa: SLF001  # what is remembered
    assert reader.read(b"Aq") == ["up", "q"]


@given(PIECES, st.data())
def test_however_the_bytes_are_split_the_keys_are_the_same(
    data: bytes, draw: st.DataObject
) -> None:
    whole, parts = KeyReader(), KeyReader()
    places = sorted(draw.draw(st.lists(st.integers(0, len(data)))))
    pieces = [
        data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)
    ]

    expected = whole.read(data) + whole.waited()
    found = [key for piece in pieces for key in parts.read(piece)]

    assert found + parts.waited() == expected
