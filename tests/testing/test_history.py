import pytest

from holdfast.model.ids import ClientId, SessionId
from holdfast.model.inputs import InputId
from holdfast.testing.history import Operation, search_check, witness_check
from holdfast.testing.world import Violation


def operation(number: int, called_at: float, returned_at: float) -> Operation:
    known = InputId(ClientId("c"), number)
    return Operation(SessionId("s"), called_at, returned_at, number, known)


def shown(*numbers: int) -> list[InputId]:
    return [InputId(ClientId("c"), number) for number in numbers]


def test_overlapping_inputs_may_be_applied_in_either_order() -> None:
    history = [operation(2, 0, 10), operation(1, 5, 12)]

    witness_check(history)
    search_check(history, shown(1, 2))
    search_check(history, shown(2, 1))


def test_an_input_that_had_returned_comes_before_one_called_later() -> None:
    history = [operation(2, 0, 1), operation(1, 5, 6)]

    with pytest.raises(Violation):
        witness_check(history)
    with pytest.raises(Violation):
        search_check(history, shown(1, 2))


def test_no_two_inputs_share_an_index() -> None:
    twice = operation(1, 0, 1)

    with pytest.raises(Violation):
        witness_check([twice, twice])


def test_what_was_acknowledged_was_shown() -> None:
    with pytest.raises(Violation):
        search_check([operation(1, 0, 1)], shown())


def test_what_was_shown_need_not_have_been_acknowledged() -> None:
    search_check([operation(2, 0, 1)], shown(1, 2, 3))


def test_a_long_history_is_searched_in_reasonable_time() -> None:
    history = [operation(n, n, n + 8) for n in range(300)]

    search_check(history, shown(*range(300)))
