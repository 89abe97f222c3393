import pytest

from holdfast.core.input.budget import (
    MAX_ACCOUNTS,
    RESIZES_PER_SECOND,
    Budget,
    Budgets,
    stranger,
)
from holdfast.model.actors import ActorKind
from holdfast.model.errors import BudgetSpent, HoldfastError, InputTooLarge
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind

ANNA, BOT, AIDE = ActorId("anna"), ActorId("bot"), ActorId("aide")
SIX = {ActorKind.AGENT: Budget(inputs_per_minute=6)}


def kind_of(actor: ActorId) -> ActorKind:
    return ActorKind.HUMAN if actor == ANNA else ActorKind.AGENT


def made(
    actor: ActorId = BOT, payload: bytes = b"x", kind: InputKind = InputKind.KEYS
) -> Input:
    known = InputId(ClientId("c"), 1)
    return Input(known, actor, kind, Incarnation(1), Epoch(0), payload)


def spent(budgets: Budgets, given: Input, now: float, times: int) -> None:
    for _ in range(times):
        assert budgets.spend(given, now) is None


def facts(error: HoldfastError | None) -> tuple[object, ...]:
    assert isinstance(error, BudgetSpent)
    return tuple(error.facts.values())


def test_without_budgets_nobody_is_stopped() -> None:
    budgets = Budgets()

    spent(budgets, made(), 0, 10_000)


def test_whoever_is_not_known_is_taken_for_an_agent() -> None:
    budgets = Budgets(budgets=SIX)
    spent(budgets, made(ANNA), 0, 6)

    assert stranger(ANNA) is ActorKind.AGENT
    assert isinstance(budgets.spend(made(ANNA), 0), BudgetSpent)


def test_one_input_over_the_budget_is_refused_and_says_how_long_to_wait() -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(), 5, 6)

    assert facts(budgets.spend(made(), 5)) == ("inputs per minute", 6, 10_000)
    assert facts(budgets.spend(made(), 12)) == ("inputs per minute", 6, 3000)
    assert budgets.spend(made(), 15) is None
    assert isinstance(budgets.spend(made(), 15), BudgetSpent)


def test_a_human_has_no_budget_unless_the_policy_says_so() -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(ANNA), 0, 1000)

    budgets.adopt({ActorKind.HUMAN: Budget(inputs_per_minute=1)})

    assert budgets.spend(made(ANNA), 0) is None
    assert isinstance(budgets.spend(made(ANNA), 0), BudgetSpent)
    spent(budgets, made(BOT), 0, 1000)


def test_bytes_are_counted_and_the_longer_wait_is_named() -> None:
    budgets = Budgets(kind_of, {ActorKind.AGENT: Budget(2, 60)})
    spent(budgets, made(payload=b"x" * 29), 0, 2)

    both = budgets.spend(made(payload=b"x" * 60), 0)
    few = budgets.spend(made(payload=b"xx"), 0)

    assert facts(both) == ("bytes per minute", 60, 58_000)
    assert facts(few) == ("inputs per minute", 2, 30_000)


def test_what_no_waiting_makes_small_enough_is_too_large() -> None:
    budgets = Budgets(kind_of, {ActorKind.AGENT: Budget(bytes_per_minute=10)})

    error = budgets.spend(made(payload=b"x" * 11), 0)

    assert isinstance(error, InputTooLarge)
    assert error.facts == {"size": 11, "limit": 10}
    assert budgets.spend(made(payload=b"x" * 10), 0) is None


def test_i3_what_one_spends_is_not_taken_from_another() -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(BOT), 0, 6)

    spent(budgets, made(AIDE), 0, 6)


def test_t24_resizes_have_a_rate_for_everybody() -> None:
    budgets = Budgets(kind_of)
    resize = made(ANNA, b"80x24", InputKind.RESIZE)
    spent(budgets, resize, 0, RESIZES_PER_SECOND)

    assert facts(budgets.spend(resize, 0)) == ("resizes per second", 20, 50)
    assert budgets.spend(made(ANNA), 0) is None
    assert budgets.spend(resize, 0.05) is None


def test_a_resize_of_an_agent_costs_its_budget_as_well() -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(kind=InputKind.RESIZE), 0, 6)

    assert facts(budgets.spend(made(), 0))[0] == "inputs per minute"


def test_asking_spends_nothing_and_neither_does_a_refusal() -> None:
    budgets = Budgets(kind_of, SIX)
    for _ in range(100):
        assert budgets.refusal(made(), 0) is None
    spent(budgets, made(), 0, 6)
    for _ in range(100):
        budgets.spend(made(), 0)

    assert facts(budgets.refusal(made(), 0)) == ("inputs per minute", 6, 10_000)


def test_a_smaller_budget_counts_what_was_spent_before() -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(), 0, 6)

    budgets.adopt({ActorKind.AGENT: Budget(inputs_per_minute=2)})

    assert facts(budgets.spend(made(), 0)) == ("inputs per minute", 2, 150_000)


def test_what_a_predecessor_let_in_counts() -> None:
    budgets = Budgets(kind_of, SIX)
    for then in (40, 40, 40, 50, 50, 50):
        budgets.remember(BOT, InputKind.KEYS, 1, then)
    budgets.remember(ANNA, InputKind.KEYS, 1, 50)

    spent(budgets, made(), 60, 2)
    assert isinstance(budgets.spend(made(), 60), BudgetSpent)


def test_a_clock_that_seems_to_go_back_gives_nothing() -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(), 100, 6)

    assert isinstance(budgets.spend(made(), 0), BudgetSpent)
    assert isinstance(budgets.spend(made(), 100), BudgetSpent)


@pytest.mark.parametrize("known", [MAX_ACCOUNTS, MAX_ACCOUNTS - 1])
def test_i4_whoever_spent_longest_ago_is_forgotten_for_room(known: int) -> None:
    budgets = Budgets(kind_of, SIX)
    spent(budgets, made(BOT), 0, 6)
    for number in range(known):
        budgets.spend(made(ActorId(f"bot{number}")), 0)

    is_kept = budgets.spend(made(BOT), 0) is not None

    assert is_kept == (known < MAX_ACCOUNTS)
