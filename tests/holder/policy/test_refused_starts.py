"""How often an operator may be refused a start before it is no longer judged."""

from pathlib import Path

import pytest

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.policy import refused_starts
from holdfast.holder.policy.refused_starts import (
    ALL,
    HOUR_MS,
    LIMIT,
    demand_patience,
    note_refusal,
)
from holdfast.linux.stored import host_book
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import BudgetSpent
from holdfast.model.ids import ActorId

BOT = Actor(ActorId("a_bot"), ActorKind.AGENT, "bot")
ANNA = Actor(ActorId("a_anna"), ActorKind.HUMAN, "anna")


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


@pytest.mark.parametrize("who", [BOT, ANNA], ids=["agent", "human"])
def test_who_was_refused_so_often_is_judged_no_more(who: Actor) -> None:
    for _ in range(LIMIT - 1):
        note_refusal(who.id)
    demand_patience(who)
    note_refusal(who.id)

    with pytest.raises(BudgetSpent) as caught:
        demand_patience(who)

    assert caught.value.facts["limit"] == LIMIT
    assert HOUR_MS - 60_000 < int(str(caught.value.facts["wait_ms"])) <= HOUR_MS


def test_what_others_were_refused_does_not_count_for_one() -> None:
    for _ in range(LIMIT):
        note_refusal(BOT.id)

    demand_patience(ANNA)
    demand_patience(Actor(ActorId("a_other"), ActorKind.AGENT, "other"))


def test_agents_under_ever_new_names_are_met_by_the_limit_of_all_but_people_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refused_starts, "ALL", 3)
    for number in range(2):
        note_refusal(ActorId(f"a_{number}"))
    demand_patience(BOT)
    note_refusal(ActorId("a_3"))

    with pytest.raises(BudgetSpent) as caught:
        demand_patience(BOT)
    assert 0 < int(str(caught.value.facts["wait_ms"])) <= HOUR_MS
    demand_patience(ANNA)
    assert ALL > LIMIT


def test_after_an_hour_a_refusal_no_longer_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refused_starts, "HOUR_MS", 0)
    for _ in range(LIMIT):
        note_refusal(BOT.id)

    demand_patience(BOT)


def test_that_somebody_is_judged_no_more_is_on_record() -> None:
    for _ in range(LIMIT):
        note_refusal(BOT.id)
    with pytest.raises(BudgetSpent) as caught:
        demand_patience(BOT)

    with host_book.writing() as book:
        assert book.last is not None
        assert book.last.kind is EntryKind.DECLINED
        told = book.last.fields
    assert (told["actor"], told["request"]) == (BOT.id, "start")
    assert told["code"] == caught.value.code
