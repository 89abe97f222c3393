import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.key_reader import Key, KeyReader, Mouse

KNOWN: list[tuple[bytes, list[Key]]] = [
    (b"a", ["a"]),
    ("é漢👍".encode(), ["é", "漢", "👍"]),
    (
        b"\r\n\x7f\x08\t\x00",
        ["Enter", "Enter", "Backspace", "Backspace", "Tab", "C-Space"],
    ),
    (b"\x04\x1a", ["C-d", "C-z"]),
    (b"\x1b[A\x1b[1;5B\x1bOC\x1b[H\x1b[F", ["Up", "Down", "Right", "Home", "End"]),
    (b"\x1b[5~\x1b[6~\x1b[1~\x1b[99~", ["PageUp", "PageDown", "Home"]),
    (b"\x1bf\x1b<", ["M-f", "M-<"]),
    (b"\x1b\x1c", []),
    (b"\x1b[\x1fx", ["x"]),
    (b"\x1c\x1f", []),
    (b"\x1b[Z\x1bOZ", []),
    (b"\x1b[<64;3;4M", [Mouse(64, 2, 3)]),
    (b"\x1b[<0;1;1m", [Mouse(0, 0, 0, is_release=True)]),
    (b"\x1b[<0;;1M\x1b[<1M", []),
    (b"\xff\x80a", ["a"]),
    (b"\xe2\x28\xa1", ["("]),
]


@pytest.mark.parametrize(("data", "keys"), KNOWN)
def test_keys_are_named(data: bytes, keys: list[Key]) -> None:
    assert KeyReader().read(data) == keys


def test_a_lone_escape_is_the_key() -> None:
    reader = KeyReader()

    assert reader.read(b"\x1b") == ["Escape"]
    assert reader.read(b"[A") == ["[", "A"]


@pytest.mark.parametrize(
    ("begun", "rest", "key"),
    [
        (b"\x1b[1;", b"5B", "Down"),
        (b"\x1bO", b"C", "Right"),
        (b"\xe6\xbc", b"\xa2", "漢"),
    ],
)
def test_i1_what_has_only_begun_waits_for_its_rest(
    begun: bytes, rest: bytes, key: Key
) -> None:
    reader = KeyReader()

    assert reader.read(begun) == []
    assert reader.read(rest) == [key]


@given(st.data())
def test_i1_however_it_is_split_the_keys_are_the_same(data: st.DataObject) -> None:
    sent, keys = data.draw(st.sampled_from(KNOWN))
    at = data.draw(st.integers(0, len(sent)))
    if sent[:at].endswith(b"\x1b"):
        return  # That would be the key itself.
    reader = KeyReader()

    assert reader.read(sent[:at]) + reader.read(sent[at:]) == keys


def test_i2_what_never_ends_is_not_kept() -> None:
    assert "1" in KeyReader().read(b"\x1b[" + b"1" * 100)


def test_the_mouse_says_what_it_did() -> None:
    assert [Mouse(button, 0, 0).wheel for button in (64, 65, 0)] == [-1, 1, 0]
    assert Mouse(0, 0, 0).is_press
    assert Mouse(32, 0, 0).is_drag
    assert not Mouse(0, 0, 0, is_release=True).is_press
    assert not Mouse(32, 0, 0, is_release=True).is_drag
