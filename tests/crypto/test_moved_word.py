import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.keys import SigningKey
from holdfast.crypto.moved_word import MovedWord, issue, read
from holdfast.crypto.signed_line import MAX_TEXT
from holdfast.model.errors import TokenForged

KEY, OTHER = SigningKey.from_seed(bytes(32)), SigningKey.from_seed(b"o" * 32)
WORD = MovedWord(
    "s_web", 3, "beta", b"p" * 32, b"s" * 32, ("https://one", "https://two")
)


def test_i1_what_was_issued_is_read_again() -> None:
    assert read(issue(WORD, KEY), "s_web", KEY.public) == WORD


def test_i1_another_host_s_word_is_not_believed() -> None:
    with pytest.raises(TokenForged):
        read(issue(WORD, OTHER), "s_web", KEY.public)


def test_i1_a_word_about_another_session_is_not_believed() -> None:
    with pytest.raises(TokenForged):
        read(issue(WORD, KEY), "s_other", KEY.public)


def test_i1_a_key_that_is_none_is_not_believed() -> None:
    with pytest.raises(TokenForged):
        read(issue(WORD._replace(static_key=b"short"), KEY), "s_web", KEY.public)


def test_relays_for_which_there_is_no_room_are_left_out() -> None:
    many = WORD._replace(relays=tuple(f"https://relay-{one}" for one in range(200)))

    text = issue(many, KEY)

    assert len(text) <= MAX_TEXT
    found = read(text, "s_web", KEY.public).relays
    assert found == many.relays[: len(found)]
    assert found


def signed(body: bytes) -> str:
    signature = KEY.sign(b"holdfast-moved-1\n" + body)
    parts = (base64.urlsafe_b64encode(one) for one in (body, signature))
    return ".".join(("holdfast-moved-1", *(one.rstrip(b"=").decode() for one in parts)))


@pytest.mark.parametrize("body", [b"nonsense", b"{}", b'{"session":"s_web"}'])
def test_i1_what_is_signed_and_makes_no_sense_is_not_believed(body: bytes) -> None:
    with pytest.raises(TokenForged):
        read(signed(body), "s_web", KEY.public)


@pytest.mark.parametrize(
    "text", ["", "a.b.c", "holdfast-moved-1.é.é", "holdfast-moved-1.e30.!", "x" * 5000]
)
def test_i1_nonsense_is_not_believed(text: str) -> None:
    with pytest.raises(TokenForged):
        read(text, "s_web", KEY.public)


@given(st.data())
def test_i1_no_changed_byte_is_believed(data: st.DataObject) -> None:
    text = issue(WORD, KEY)
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("AZaz09._-"))
    changed = text[:at] + letter + text[at + 1 :]
    if changed == text:
        return
    with pytest.raises(TokenForged):
        read(changed, "s_web", KEY.public)
