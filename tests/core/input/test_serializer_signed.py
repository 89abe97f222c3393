from tests.core.input.test_serializer import ANNA, BOT, codes, keys

from holdfast.core.input.serializer import MAX_CLIENTS, Effect, Judge, Serializer
from holdfast.model.ids import Epoch, Index


def test_a_client_that_has_signed_counts_on_when_it_was_forgotten() -> None:
    line = Serializer()
    line.signed_by = lambda actor, client: 7 if (actor, client) == (ANNA, "c") else 0

    assert codes(line.submit(keys(9))) == [(9, "input-gap")]
    assert codes(line.submit(keys(7))) == [(7, "outcome-forgotten")]
    assert line.is_known(keys(7))
    assert line.submit(keys(8)) == [Judge(keys(8))]
    assert codes(line.submit(keys(8, actor=BOT))) == [(8, "input-gap")]


def type_once(line: Serializer, client: str, index: int) -> list[Effect]:
    effects = line.submit(keys(1, client=client))
    if Judge(keys(1, client=client)) in effects:
        line.admit(Index(index))
        line.stored(Index(index))
        line.wrote(Index(index), len(keys(1).payload))
        line.synced(Index(index))
    return effects


def test_a_client_of_the_turns_holder_is_forgotten_once_it_has_signed() -> None:
    line = Serializer()
    line.begin_turn(ANNA, Epoch(1))
    for number in range(MAX_CLIENTS):
        type_once(line, f"c{number}", number)
    assert codes(type_once(line, "new", MAX_CLIENTS)) == [(1, "too-many-clients")]

    line.signed_by = lambda _, client: int(client == "c3")

    assert codes(type_once(line, "new", MAX_CLIENTS)) == []
    assert codes(type_once(line, "c3", 0)) == [(1, "outcome-forgotten")]
    assert codes(type_once(line, "newer", 0)) == [(1, "too-many-clients")]
