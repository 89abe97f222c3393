from hypothesis import given
from hypothesis import strategies as st
from tests.core.input.test_budget import made

from holdfast.core.input.budget import MINUTE, RESIZES_PER_SECOND, Budget, Budgets
from holdfast.model.actors import ActorKind
from holdfast.model.errors import BudgetSpent
from holdfast.model.ids import ActorId
from holdfast.model.inputs import InputKind

ACTORS = [ActorId(name) for name in ("bot", "aide")]

sendings = st.lists(
    st.tuples(
        st.floats(0, 40),
        st.sampled_from(ACTORS),
        st.integers(1, 30),
        st.sampled_from([InputKind.KEYS, InputKind.RESIZE]),
    ),
    max_size=60,
)
budgets = st.builds(
    Budget,
    st.none() | st.integers(1, 8),
    st.none() | st.integers(30, 90),
)


@given(budgets, sendings)
def test_i1_i3_no_span_of_time_holds_more_than_the_rate_allows(
    budget: Budget, sent: list[tuple[float, ActorId, int, InputKind]]
) -> None:
    machine = Budgets(budgets={ActorKind.AGENT: budget})
    now = 0.0
    passed: list[tuple[float, ActorId, int, InputKind]] = []
    for pause, actor, size, kind in sent:
        now += pause
        if machine.spend(made(actor, b"x" * size, kind), now) is None:
            passed.append((now, actor, size, kind))

    for actor in ACTORS:
        mine = [one for one in passed if one[1] == actor]
        resizes = [(at, 1) for at, _, _, kind in mine if kind is InputKind.RESIZE]
        inputs = [(at, 1) for at, _, _, _ in mine]
        amounts = [(at, size) for at, _, size, _ in mine]
        assert_within(resizes, RESIZES_PER_SECOND, 1.0)
        assert_within(inputs, budget.inputs_per_minute, MINUTE)
        assert_within(amounts, budget.bytes_per_minute, MINUTE)


def assert_within(
    spent: list[tuple[float, int]], limit: int | None, span: float
) -> None:
    if limit is None:
        return
    for first, (begin, _) in enumerate(spent):
        total = 0
        for at, amount in spent[first:]:
            total += amount
            assert total <= limit * (1 + (at - begin) / span) + 0.001, "I1"


@given(budgets, sendings)
def test_i2_whoever_waits_as_long_as_told_is_admitted(
    budget: Budget, sent: list[tuple[float, ActorId, int, InputKind]]
) -> None:
    machine = Budgets(budgets={ActorKind.AGENT: budget})
    now = 0.0
    for pause, actor, size, kind in sent:
        now += pause
        this = made(actor, b"x" * size, kind)
        error = machine.spend(this, now)
        if isinstance(error, BudgetSpent):
            now += int(error.facts["wait_ms"]) / 1000
            assert machine.spend(this, now) is None, "I2"
