"""A secret is typed only where it stays one, and only as one line."""

from dataclasses import dataclass

import msgspec
import pytest
from tests.core.client.world import evidence

from holdfast.client.secret_input import MAX_SECRET, checked, demand_secrecy
from holdfast.model.errors import (
    HoldfastError,
    LineTooLong,
    MalformedArgument,
    NotWaiting,
    WouldBeShown,
)


@dataclass(frozen=True)
class Case:
    state: str
    echo: bool
    key_by_key: bool
    refused: type[HoldfastError] | None


@pytest.mark.parametrize(
    "case",
    [
        Case("waiting-for-secret", echo=False, key_by_key=False, refused=None),
        Case("waiting-for-secret", echo=True, key_by_key=False, refused=None),
        Case("waiting-for-input", echo=False, key_by_key=True, refused=None),
        Case("waiting-for-input", echo=False, key_by_key=False, refused=WouldBeShown),
        Case("waiting-for-input", echo=True, key_by_key=True, refused=WouldBeShown),
        Case("running", echo=False, key_by_key=True, refused=NotWaiting),
    ],
    ids=str,
)
def test_a_secret_goes_where_somebody_waits_and_shows_nothing(case: Case) -> None:
    seen = msgspec.structs.replace(evidence(case.state), echo=case.echo)

    if case.refused is None:
        demand_secrecy(seen, key_by_key=case.key_by_key)
    else:
        with pytest.raises(case.refused):
            demand_secrecy(seen, key_by_key=case.key_by_key)


def test_a_secret_is_as_long_as_a_terminal_takes_in_one_line() -> None:
    longest = b"x" * MAX_SECRET
    assert checked(longest) == longest

    with pytest.raises(LineTooLong) as refused:
        checked(longest + b"x")
    assert refused.value.facts == {"size": MAX_SECRET + 1, "limit": MAX_SECRET}


@pytest.mark.parametrize("key", [b"\x00", b"\r", b"\n", b"\x1f", b"\x7f"])
def test_a_secret_with_a_key_in_it_is_refused_and_not_repeated(key: bytes) -> None:
    with pytest.raises(MalformedArgument) as refused:
        checked(b"hunter2" + key)

    assert "hunter2" not in str(refused.value)


def test_a_blank_and_every_letter_may_be_in_a_secret() -> None:
    secret = " ~\N{LATIN SMALL LETTER U WITH DIAERESIS}".encode()

    assert checked(secret) == secret
    assert checked(b"") == b""
