"""What a successor still counts of what was spent before it."""

import tty
from collections.abc import Iterator

import pytest
from tests.holder.input_world import World, successor, world
from tests.scenarios.support import apply_policy

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.budget import MINUTE
from holdfast.holder.moment import now
from holdfast.model.actors import ActorKind
from holdfast.model.errors import BudgetSpent
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    ActorId,
    client_id,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment

ALLOW = '[default]\nagent = "allow"\n'
BUDGET = ALLOW + "[budget.agent]\ninputs_per_minute = 3\n"
SPENT = 3


@pytest.fixture
def here(own_folders: None) -> Iterator[World]:
    del own_folders
    with world() as made:
        tty.setraw(made.slave)
        apply_policy(ALLOW)
        yield made


def typed(here: World, kind: ActorKind) -> ActorId:
    """Let somebody type as often as an agent may; return who it was."""
    who = here.join("other", kind)
    for _ in range(SPENT):
        who.submit(b"x", InputKind.KEYS)
    here.session.settle()
    inputs = [one for one in here.entries() if one.kind is EntryKind.INPUT]
    assert len(inputs) == SPENT
    return who.id


def another(here: World, actor: ActorId) -> Input:
    return Input(
        InputId(client_id(bytes(ENTROPY)), 9),
        actor,
        InputKind.KEYS,
        FIRST_INCARNATION,
        here.intake.turn.epoch,
        b"y",
    )


def spent(after: World, actor: ActorId, at: Moment) -> bool:
    error = after.intake.budgets.refusal(another(after, actor), at.now)
    assert error is None or isinstance(error, BudgetSpent)
    return error is not None


def test_a_successor_remembers_what_an_agent_has_spent_this_minute(here: World) -> None:
    apply_policy(BUDGET)
    bot = typed(here, ActorKind.AGENT)

    assert spent(successor(here), bot, now())


def test_a_successor_knows_a_human_who_typed_from_an_agent(here: World) -> None:
    apply_policy(BUDGET)
    bert = typed(here, ActorKind.HUMAN)
    after = successor(here)

    assert after.context.clients.kind_of(bert) is ActorKind.HUMAN
    assert not spent(after, bert, now())


@pytest.mark.parametrize(("later", "counts"), [(0.5, True), (MINUTE / 3 + 1, False)])
def test_what_was_spent_is_given_back_by_the_wall_clock(
    here: World, later: float, *, counts: bool
) -> None:
    bot = typed(here, ActorKind.AGENT)
    after = successor(here)
    assert not spent(after, bot, now())
    apply_policy(BUDGET)
    at = now()
    late = Moment(at.now, at.wall + later)

    after.session.input_handler.limits.take_up(here.entries(), None, late)

    assert spent(after, bot, late) is counts


def test_a_policy_without_budgets_has_a_successor_meet_nobody(here: World) -> None:
    bot = typed(here, ActorKind.AGENT)

    assert not successor(here).context.clients.knows(bot)


def test_who_spent_something_is_met_and_who_did_not_is_not(here: World) -> None:
    idle = here.join("idle", ActorKind.HUMAN).id
    bert = typed(here, ActorKind.HUMAN)
    after = successor(here)
    apply_policy(BUDGET)

    after.session.input_handler.limits.take_up(here.entries(), None, now())

    assert after.context.clients.knows(bert)
    assert not after.context.clients.knows(idle)


def test_who_has_the_turn_is_known_to_a_successor_though_it_spent_nothing(
    here: World,
) -> None:
    apply_policy(BUDGET)
    bert = here.join("bert", ActorKind.HUMAN).id
    after = successor(here)
    after.session.input_handler.limits.take_up([], bert, now())

    assert after.context.clients.kind_of(bert) is ActorKind.HUMAN
