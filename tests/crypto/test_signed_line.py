"""A signed line is read where it was signed, under its title, in its one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.keys import SigningKey
from holdfast.crypto.signed_line import MAX_TEXT, read_signed_line, signed_line
from holdfast.model.errors import PeerError, TokenForged
from holdfast.wire.lines import Record

KEY = SigningKey.from_seed(bytes(32))
FIELDS: Record = {"host": "beta", "life": 3}
LINE = signed_line("holdfast-test-1", FIELDS, KEY)


def read(text: str) -> Record:
    return read_signed_line("holdfast-test-1", text, KEY.public)


def test_i1_what_was_written_is_read_again() -> None:
    assert read(LINE) == FIELDS


def test_i1_a_line_under_another_title_is_not_read() -> None:
    with pytest.raises(TokenForged, match="no holdfast-other-1"):
        read_signed_line("holdfast-other-1", LINE, KEY.public)


def test_i1_a_title_that_was_not_signed_is_not_read() -> None:
    renamed = LINE.replace("holdfast-test-1", "holdfast-other-1")

    with pytest.raises(TokenForged, match="has not signed"):
        read_signed_line("holdfast-other-1", renamed, KEY.public)


def test_i1_a_long_one_is_not_looked_at() -> None:
    with pytest.raises(TokenForged, match="no holdfast-test-1"):
        read(LINE + "a" * MAX_TEXT)


@pytest.mark.parametrize("signature", ["!", "é", "a", "QR"])
def test_i1_base64_has_one_spelling(signature: str) -> None:
    title, body, _ = LINE.split(".")

    with pytest.raises(TokenForged, match="written"):
        read(f"{title}.{body}.{signature}")


@given(st.text())
def test_i1_nothing_else_is_read(told: str) -> None:
    with pytest.raises(PeerError):
        read(told)
