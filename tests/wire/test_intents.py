"""What is declared of an act, and of another attempt at it."""

import pytest

from holdfast.model.errors import MalformedArgument
from holdfast.model.expectations import Expectation
from holdfast.wire.intents import MAX_ATTEMPT, again, attempted


def test_another_attempt_declares_the_same() -> None:
    said = again("make")

    assert (said.parameters, said.attempt, said.idempotent) == ("make", 1, True)
    assert attempted(said, 2).attempt == 2
    assert attempted(said, MAX_ATTEMPT + 1).attempt == MAX_ATTEMPT
    assert attempted(said, 2).intent == said.intent


def test_what_is_expected_can_be_compared_or_is_refused() -> None:
    said = again("make")
    whole = {name: getattr(said, name) for name in said.__struct_fields__}

    def expecting(text: str) -> Expectation | None:
        return type(said)(**{**whole, "expects": text}).expected()

    assert expecting("") is None
    assert expecting('{"ports":[80]}') == Expectation(ports=(80,))
    with pytest.raises(MalformedArgument):
        expecting("it works")
