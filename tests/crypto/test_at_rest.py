import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto import at_rest
from holdfast.model.errors import MalformedMessage

KEY = at_rest.file_key(bytes(32))
NONCE = bytes(range(at_rest.NONCE))


@given(st.binary(max_size=200), st.text(max_size=20))
def test_what_was_sealed_is_opened(plain: bytes, about: str) -> None:
    raw = at_rest.seal_file(KEY, NONCE, plain, about)

    assert at_rest.open_file(KEY, raw, about) == plain
    assert len(plain) < 8 or plain not in raw


@given(st.data())
def test_nothing_else_is_opened(data: st.DataObject) -> None:
    raw = at_rest.seal_file(KEY, NONCE, b"a secret", "facts s_a")
    place = data.draw(st.integers(0, len(raw) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    flipped = raw[:place] + bytes([raw[place] ^ bit]) + raw[place + 1 :]

    for changed in (flipped, raw[:place], raw + b"\0"):
        with pytest.raises(MalformedMessage):
            at_rest.open_file(KEY, changed, "facts s_a")


def test_a_file_is_not_another_nor_of_another_host() -> None:
    raw = at_rest.seal_file(KEY, NONCE, b"a secret", "facts s_a")

    with pytest.raises(MalformedMessage, match="seal"):
        at_rest.open_file(KEY, raw, "facts s_b")
    with pytest.raises(MalformedMessage, match="seal"):
        at_rest.open_file(at_rest.file_key(b"1" * 32), raw, "facts s_a")


def test_a_file_that_has_no_room_for_a_seal_is_cut_short() -> None:
    with pytest.raises(MalformedMessage, match="cut short"):
        at_rest.open_file(KEY, NONCE, "facts s_a")


def test_what_else_goes_wrong_is_not_called_a_broken_seal() -> None:
    raw = at_rest.seal_file(KEY, NONCE, b"a secret", "facts s_a")

    with pytest.raises(ValueError, match="key"):
        at_rest.open_file(b"too short", raw, "facts s_a")
