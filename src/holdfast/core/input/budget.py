"""How much an operator may still do now.

Theory of operation
-------------------
Some kinds of operator have a budget: so many inputs, so many bytes in a minute.
Each operator has a bucket for each, which an input fills and time empties at the
rate of the budget; what would overflow it is refused, with how long to wait.

    level ──admitted──▶ level + cost      never over the limit
      └────time passes──▶ level - limit * seconds / span, not below 0

So a whole minute's worth may come at once, and after it no more than the rate:
in any `t` seconds an operator gets at most `limit * (1 + t / span)` through.

Nobody has to keep to a budget for it to hold, and what is refused costs nothing.
Resizes have a separate rate for all operators: each one makes every program in
the session draw anew.

A budget says nothing about who may seize: seizing is no input.

Invariants, each checked by tests/core/input/test_budget_properties.py:

I1  In any t seconds at most limit * (1 + t / span) of anything is admitted.
I2  An operator that waits as long as the refusal says, sending nothing, is admitted.
I3  What one operator spends is not taken from another.
I4  Memory is bounded, however many operators there are.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.model.actors import ActorKind
from holdfast.model.errors import BudgetSpent, HoldfastError, InputTooLarge
from holdfast.model.ids import ActorId
from holdfast.model.inputs import RESIZES, Input, InputKind

MINUTE = 60.0

RESIZES_PER_SECOND = 20
"""More than a hand moves a window's edge, and less than a program minds."""

MAX_ACCOUNTS = 1024
"""Operators kept count of: more than one machine knows (linux.stored.operators)."""

_GRAIN = 1e-6
"""Fraction of an input that rounding may lose without a refusal."""

KindOf = Callable[[ActorId], ActorKind]
"""Returns the kind of an operator."""


def stranger(_: ActorId) -> ActorKind:
    """Treat every operator as an agent, which has the fewest rights."""
    return ActorKind.AGENT


@dataclass(frozen=True, slots=True)
class Budget:
    """What one operator of some kind may do; None is as much as it likes."""

    inputs_per_minute: int | None = None
    bytes_per_minute: int | None = None
    turn_seconds: float | None = None
    """Kept by core.input.turn; here because it is written in the same place."""


ByKind = Mapping[ActorKind, Budget]
"""What operators of each kind may do; one that is not there, as much as it likes."""


@dataclass(slots=True)
class _Bucket:
    level: float = 0.0
    at: float = 0.0

    def left_at(self, rate: float, now: float) -> float:
        return max(0.0, self.level - max(0.0, now - self.at) * rate)


@dataclass(frozen=True, slots=True)
class _Cost:
    """What an input takes out of one bucket."""

    what: str
    amount: int
    limit: int
    span: float

    @property
    def rate(self) -> float:
        return self.limit / self.span


_Account = dict[str, _Bucket]


class Budgets:
    """What the operators of one session have spent."""

    def __init__(
        self,
        kind_of: KindOf = stranger,
        budgets: ByKind | None = None,
    ) -> None:
        self._kind_of = kind_of
        self._budgets: ByKind = budgets or {}
        self._accounts: OrderedDict[ActorId, _Account] = OrderedDict()

    @property
    def are_endless(self) -> bool:
        """Whether nobody has a budget."""
        return not self._budgets

    def adopt(self, budgets: ByKind) -> None:
        """Go by other budgets from now on; what was spent stays spent."""
        self._budgets = budgets

    def refusal(self, given: Input, now: float) -> HoldfastError | None:
        """Return why `given` may not be sent now, or None. Spends nothing."""
        account = self._accounts.get(given.actor, {})
        costs = self._costs(given.actor, given.kind, len(given.payload))
        return _refusal(account, costs, now)

    def spend(self, given: Input, now: float) -> HoldfastError | None:
        """Spend what `given` costs, or return why it may not be sent now."""
        if not self._budgets and given.kind is not InputKind.RESIZE:
            return None
        error = self.refusal(given, now)
        if error is None:
            self.remember(given.actor, given.kind, len(given.payload), now)
        return error

    def remember(self, actor: ActorId, kind: InputKind, size: int, then: float) -> None:
        """Count what was spent, also by operators that a previous holder admitted."""
        for cost in self._costs(actor, kind, size):
            bucket = self._account(actor).setdefault(cost.what, _Bucket())
            bucket.level = bucket.left_at(cost.rate, then) + cost.amount
            bucket.at = max(bucket.at, then)

    def _costs(self, actor: ActorId, kind: InputKind, size: int) -> list[_Cost]:
        costs = []
        if kind is InputKind.RESIZE:
            costs.append(_Cost(RESIZES, 1, RESIZES_PER_SECOND, 1.0))
        if not self._budgets:
            return costs  # Nobody is asked what they are for nothing.
        budget = self._budgets.get(self._kind_of(actor), Budget())
        for what, amount, limit in (
            ("inputs per minute", 1, budget.inputs_per_minute),
            ("bytes per minute", size, budget.bytes_per_minute),
        ):
            if limit is not None:
                costs.append(_Cost(what, amount, limit, MINUTE))
        return costs

    def _account(self, actor: ActorId) -> _Account:
        account = self._accounts.setdefault(actor, {})
        self._accounts.move_to_end(actor)
        if len(self._accounts) > MAX_ACCOUNTS:
            self._accounts.popitem(last=False)
        return account


def _refusal(
    account: _Account, costs: Sequence[_Cost], now: float
) -> HoldfastError | None:
    waits = []
    for cost in costs:
        if cost.amount > cost.limit:
            return InputTooLarge(cost.amount, cost.limit)
        bucket = account.get(cost.what, _Bucket())
        over = bucket.left_at(cost.rate, now) + cost.amount - cost.limit
        if over > _GRAIN:
            waits.append((math.ceil(over / cost.rate * 1000), cost))
    if not waits:
        return None
    # The longest: after a shorter wait the next refusal would come.
    wait_ms, cost = max(waits, key=lambda wait: wait[0])
    return BudgetSpent(cost.what, cost.limit, wait_ms)
