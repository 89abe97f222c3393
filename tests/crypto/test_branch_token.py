"""A token of a branch is read where it was issued, and nowhere else."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.branch_token import Branch, issue, read
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import PeerError, TokenForged
from holdfast.wire.lines import encode_line

KEY = SigningKey.from_seed(bytes(32))
OTHER = SigningKey.from_seed(bytes(31) + b"x")
BRANCH = Branch("s_" + "a" * 16, 2, "s_" + "b" * 16)


def text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(body: bytes) -> str:
    signature = KEY.sign(b"holdfast-branch-1\n" + body)
    return f"holdfast-branch-1.{text(body)}.{text(signature)}"


def test_i1_what_was_issued_is_read() -> None:
    assert read(issue(BRANCH, KEY), KEY.public) == BRANCH
    assert BRANCH.name == f"{BRANCH.session}/2"


def test_i1_until_when_it_is_good_is_read() -> None:
    leased = BRANCH._replace(expires_ms=7)

    assert read(issue(leased, KEY), KEY.public) == leased
    assert issue(leased, KEY) != issue(BRANCH, KEY)


def test_i2_the_same_branch_has_the_same_token() -> None:
    assert issue(BRANCH, KEY) == issue(BRANCH, SigningKey.from_seed(bytes(32)))
    assert issue(BRANCH._replace(incarnation=3), KEY) != issue(BRANCH, KEY)


def test_i1_another_host_has_not_issued_it() -> None:
    with pytest.raises(TokenForged, match="has not signed"):
        read(issue(BRANCH, OTHER), KEY.public)


@given(st.integers(0, len(issue(BRANCH, KEY)) - 1), st.sampled_from("aA0-_.=é\n"))
def test_i1_no_letter_of_it_can_be_another(place: int, letter: str) -> None:
    token = issue(BRANCH, KEY)
    changed = token[:place] + letter + token[place + 1 :]
    if changed != token:
        with pytest.raises(TokenForged):
            read(changed, KEY.public)


@given(st.text())
def test_i1_nothing_else_is_read(told: str) -> None:
    with pytest.raises(PeerError):
        read(told, KEY.public)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"session": "s", "incarnation":1,"parent":""}',
        encode_line({"session": 1, "incarnation": 1, "parent": ""}),
        encode_line(
            {"session": "s", "incarnation": 1, "parent": "", "expires_ms": "x"}
        ),
    ],
)
def test_i1_what_we_would_not_write_is_not_read(body: bytes) -> None:
    with pytest.raises(TokenForged):
        read(signed(body), KEY.public)
