import pytest

from holdfast.core.input.budget import Budget
from holdfast.core.input.turn import AskDefault, TurnRules, first, human_first
from holdfast.core.policy.policy_limits import (
    BUDGET_KEYS,
    MAX_COUNT,
    MAX_SECONDS,
    TURN_KEYS,
    read_budget,
    read_turn,
)


def complaints(key: str, value: object) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def complain(about: str, what: str) -> None:
        found.append((about, what))

    usual = (TurnRules(), Budget())
    read = read_turn if key in TURN_KEYS else read_budget
    assert read({key: value}, complain) in usual
    return found


def never(key: str, what: str) -> None:
    raise AssertionError(f"{key}: {what}")


def test_nothing_said_leaves_everything_as_it_is() -> None:
    assert read_turn({}, never) == TurnRules(None, 30.0, AskDefault.REFUSE, first)
    assert read_budget({}, never) == Budget(None, None, None)


def test_everything_said_is_read() -> None:
    said = {"limit": 60, "grace": 0, "ask": "grant", "next": "human-first"}
    budget = {"inputs_per_minute": 1, "bytes_per_minute": 2, "turn_seconds": 2.5}

    rules = read_turn(said, never)

    assert said.keys() == TURN_KEYS
    assert rules == TurnRules(60.0, 0.0, AskDefault.GRANT, human_first)
    assert budget.keys() == BUDGET_KEYS
    assert read_budget(budget, never) == Budget(1, 2, 2.5)


@pytest.mark.parametrize("key", ["limit", "grace", "turn_seconds"])
@pytest.mark.parametrize(
    "value", [-1, True, "60", [], float("nan"), float("inf"), MAX_SECONDS + 1]
)
def test_what_is_no_time_is_complained_about(key: str, value: object) -> None:
    [(about, what)] = complaints(key, value)

    assert about == key
    assert what.startswith("expected seconds, from ")


def test_a_turn_lasts_a_second_at_least() -> None:
    assert complaints("limit", 0.9)
    assert complaints("turn_seconds", 0)
    assert read_budget({"turn_seconds": 1}, never).turn_seconds == 1
    assert read_turn({"limit": 1, "grace": 0}, never).limit == 1
    assert read_turn({"limit": MAX_SECONDS}, never).limit == MAX_SECONDS


@pytest.mark.parametrize("key", ["inputs_per_minute", "bytes_per_minute"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "9", MAX_COUNT + 1])
def test_what_is_no_count_is_complained_about(key: str, value: object) -> None:
    expected = f"expected a whole number, from 1 to {MAX_COUNT}"

    assert complaints(key, value) == [(key, expected)]


@pytest.mark.parametrize("value", ["yes", "", 1, ["grant"], True])
def test_what_is_no_word_is_complained_about(value: object) -> None:
    assert complaints("ask", value) == [("ask", "expected grant or refuse")]
    assert complaints("next", value) == [("next", "expected first or human-first")]
