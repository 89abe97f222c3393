from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import MalformedId
from holdfast.model.ids import (
    FIRST_INCARNATION,
    NO_EPOCH,
    actor_id,
    client_id,
    host_id,
    next_epoch,
    next_incarnation,
    parse_actor_id,
    parse_client_id,
    parse_host_id,
    parse_session_id,
    session_id,
)

Parser = Callable[[str], str]

PARSERS: list[tuple[Parser, str]] = [
    (parse_session_id, session_id(bytes(10))),
    (parse_client_id, client_id(bytes(10))),
    (parse_host_id, host_id(b"key")),
    (parse_actor_id, actor_id(b"key")),
]


@given(st.binary(min_size=10, max_size=10))
def test_random_bytes_make_ids_that_are_read_again(entropy: bytes) -> None:
    assert parse_session_id(session_id(entropy)) == session_id(entropy)
    assert parse_client_id(client_id(entropy)) == client_id(entropy)


@given(st.binary(max_size=64))
def test_keys_make_ids_that_are_read_again(public_key: bytes) -> None:
    assert parse_host_id(host_id(public_key)) == host_id(public_key)
    assert parse_actor_id(actor_id(public_key)) == actor_id(public_key)


@given(st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_different_bytes_make_different_ids(one: bytes, other: bytes) -> None:
    assert (session_id(one) == session_id(other)) == (one == other)


def test_ids_have_the_documented_form() -> None:
    assert session_id(b"\xff" * 10) == "s_7777777777777777"
    assert client_id(bytes(10)) == "c_aaaaaaaaaaaaaaaa"
    assert actor_id(b"") == "a_4oymiquy7qobjgx36tejs35zeqt24qpe"
    assert host_id(b"") == "h_4oymiquy7qobjgx36tejs35zeqt24qpe"


@pytest.mark.parametrize("size", [0, 9, 11])
def test_an_id_of_too_few_or_too_many_bytes_is_a_bug(size: int) -> None:
    with pytest.raises(AssertionError):
        session_id(bytes(size))


@pytest.mark.parametrize(("parse", "right"), PARSERS)
def test_no_id_is_taken_for_one_of_another_kind(parse: Parser, right: str) -> None:
    for _, other in PARSERS:
        if other != right:
            with pytest.raises(MalformedId):
                parse(other)


@pytest.mark.parametrize(("parse", "right"), PARSERS)
def test_near_misses_are_refused(parse: Parser, right: str) -> None:
    for wrong in (
        "",
        right[:-1],
        right + "a",
        right.upper(),
        right + "\n",
        " " + right,
        right[2:],
        right[:-1] + "1",
        right[:-1] + "=",
        right[:-1] + "\u0430",
        right[:-1] + "\ud800",
    ):
        with pytest.raises(MalformedId):
            parse(wrong)


@given(st.text(max_size=40))
def test_text_is_an_id_or_is_refused(text: str) -> None:
    with pytest.raises(MalformedId):
        parse_session_id("s-" + text)


def test_a_refusal_shows_little_of_a_hostile_text_and_nothing_live() -> None:
    with pytest.raises(MalformedId) as refusal:
        parse_session_id("\x1b[2J\u202e" + "x" * 1_000_000)

    assert len(str(refusal.value)) < 200
    assert len(str(refusal.value.facts["text"])) < 100
    assert "\x1b" not in str(refusal.value.facts["text"])


def test_epochs_and_incarnations_count_up() -> None:
    assert next_epoch(NO_EPOCH) == 1
    assert next_incarnation(FIRST_INCARNATION) == 2
