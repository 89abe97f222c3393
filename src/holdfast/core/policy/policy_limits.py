"""The turn rules and budgets of a policy file.

    [turn]           limit, grace (seconds), ask = "refuse" or "grant",
                     next = a word of core.input.turn.NEXT_RULES
    [budget.KIND]    inputs_per_minute, bytes_per_minute, turn_seconds

What is not said is left as it is without a file: turns have no limit, a grace of
half a minute and the first in line next, and nobody has a budget.
"""

from collections.abc import Mapping

from holdfast.core.input.budget import Budget
from holdfast.core.input.turn import NEXT_RULES, AskDefault, TurnRules
from holdfast.core.policy.rule_keys import Complain

MAX_SECONDS = 7 * 24 * 60 * 60
"""Seconds of a limit or a grace: a week; a longer one is as good as none."""

MAX_COUNT = 1_000_000_000
"""Inputs or bytes in a minute: more than any terminal takes."""

TURN_KEYS = frozenset({"limit", "grace", "ask", "next"})

BUDGET_KEYS = frozenset({"inputs_per_minute", "bytes_per_minute", "turn_seconds"})


def read_turn(given: Mapping[str, object], complain: Complain) -> TurnRules:
    """Return the rules of turns, as far as there was nothing to complain about."""
    usual = TurnRules()
    grace = _seconds(given, "grace", complain, least=0)
    ask = _word(given, "ask", usual.ask_default.value, [*AskDefault], complain)
    rule = _word(given, "next", "first", [*NEXT_RULES], complain)
    return TurnRules(
        limit=_seconds(given, "limit", complain, least=1),
        grace=usual.grace if grace is None else grace,
        ask_default=AskDefault(ask),
        next_rule=NEXT_RULES[rule],
    )


def read_budget(given: Mapping[str, object], complain: Complain) -> Budget:
    """Return one kind's budget, as far as there was nothing to complain about."""
    return Budget(
        _count(given, "inputs_per_minute", complain),
        _count(given, "bytes_per_minute", complain),
        _seconds(given, "turn_seconds", complain, least=1),
    )


def _seconds(
    given: Mapping[str, object], key: str, complain: Complain, *, least: int
) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and type(value) is not bool
    # Asked this way round, "nan" is refused as well.
    if is_number and least <= value <= MAX_SECONDS:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    complain(key, f"expected seconds, from {least} to {MAX_SECONDS}")
    return None


def _count(given: Mapping[str, object], key: str, complain: Complain) -> int | None:
    value = given.get(key)
    if value is None:
        return None
    if type(value) is int and 1 <= value <= MAX_COUNT:
        return value
    complain(key, f"expected a whole number, from 1 to {MAX_COUNT}")
    return None


def _word(
    given: Mapping[str, object],
    key: str,
    usual: str,
    words: list[str],
    complain: Complain,
) -> str:
    said = given.get(key, usual)
    if isinstance(said, str) and said in words:
        return said
    complain(key, f"expected {' or '.join(words)}")
    return usual
