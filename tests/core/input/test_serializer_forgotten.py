"""A repeat of what was applied is never applied again, and never called refused."""

import pytest
from msgspec import structs
from tests.core.input.test_serializer import ANNA, BOT, codes, keys, past
from tests.core.input.test_serializer_signed import type_once

from holdfast.core.input import forgotten
from holdfast.core.input.serializer import MAX_CLIENTS, Judge, Serializer
from holdfast.model.errors import DeniedByPolicy
from holdfast.model.ids import Epoch, Index
from holdfast.model.outcomes import Applied, Refused


def forget_first(line: Serializer) -> None:
    """Have many others type and sign, so that nothing of the first is left."""
    signed: set[str] = set()
    line.signed_by = lambda _, client: int(client in signed)
    for number in range(MAX_CLIENTS + 1):
        assert codes(type_once(line, f"c{number}", number)) == []
        signed.add(f"c{number}")


def test_whoever_has_signed_and_is_forgotten_is_known_when_the_signers_are_not() -> (
    None
):
    line = Serializer()
    line.begin_turn(ANNA, Epoch(1))
    forget_first(line)

    line.signed_by = lambda _, client: int(client == "c5")

    assert line.is_known(keys(1, client="c0"))
    assert codes(line.submit(keys(1, client="c0"))) == [(1, "outcome-forgotten")]
    again = keys(2, client="c0")
    assert line.submit(again) == [Judge(again)]


def test_what_a_forgotten_client_wrote_in_an_earlier_turn_is_not_called_refused() -> (
    None
):
    line = Serializer()
    line.begin_turn(BOT, Epoch(1))
    forget_first(line)
    line.signed_by = lambda _, __: 0
    line.begin_turn(None, Epoch(2))

    old, new = keys(1, client="c0"), keys(1, client="fresh")

    assert line.is_known(old)
    assert codes(line.submit(old)) == [(1, "outcome-forgotten")]
    assert codes(line.submit(keys(3, client="c0"))) == [(3, "outcome-forgotten")]
    fresh = structs.replace(new, epoch=Epoch(2))
    assert not line.is_known(fresh)
    assert line.submit(fresh) == [Judge(fresh)]
    assert line.is_known(keys(1, client="fresh"))


def test_a_client_that_never_wrote_leaves_nothing_behind() -> None:
    line = Serializer()
    line.begin_turn(BOT, Epoch(1))
    for number in range(MAX_CLIENTS + 1):
        line.submit(keys(1, client=f"c{number}"))
        line.reject(DeniedByPolicy("no", ""))
    line.begin_turn(ANNA, Epoch(2))

    assert not line.is_known(keys(1, client="c0"))


def test_no_client_is_forgotten_of_whom_no_mark_finds_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forgotten, "MAX_MARKS", 1)
    line = Serializer()
    line.begin_turn(ANNA, Epoch(1))
    forget_first(line)

    assert codes(type_once(line, "one-more", 99)) == [(1, "too-many-clients")]


def test_what_is_taken_up_of_too_many_clients_is_known_all_the_same() -> None:
    line = Serializer()
    line.begin_turn(ANNA, Epoch(1))
    for number in range(MAX_CLIENTS + 1):
        known = keys(1, client=f"c{number}")
        line.remember(past(known, Applied(Index(number))))

    assert codes(line.submit(keys(1, client="c0"))) == [(1, "outcome-forgotten")]


def test_what_was_refused_to_a_predecessor_leaves_nothing_behind() -> None:
    line = Serializer()
    line.begin_turn(BOT, Epoch(2))
    for number in range(MAX_CLIENTS + 1):
        refused = Refused(DeniedByPolicy("no", ""))
        line.remember(past(keys(1, client=f"c{number}"), refused))

    assert not line.is_known(keys(1, client="c0"))
