"""What the taker of a turn is told: at once that it has it, then what comes with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.requests_world import Here, requested

from holdfast.holder.input import handover
from holdfast.model.ids import ActorId
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import Message

MAX_TURNS = 100_000
"""Slices of one look: more than there are processes on any machine of ours."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    with requested(tmp_path, monkeypatch) as made:
        yield made


def inherited(said: list[Message]) -> list[tuple[ActorId, ...]]:
    """Return whose line was taken over."""
    return [one.by for one in said if isinstance(one, presence.Inherited)]


def passed(said: list[Message]) -> bool:
    return any(isinstance(one, wire.TurnPassed) for one in said)


def test_a_seize_is_told_before_the_processes_are_looked_at(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    bert.submit(b"rm -rf x")

    said = here.ask(anna, wire.Seize(wire.Halt.NONE))

    assert passed(said)
    assert inherited(said) == []
    told: list[tuple[ActorId, ...]] = []
    turns = 0
    while not told and turns < MAX_TURNS:
        here.world.turn()
        told, turns = inherited(anna.told()), turns + 1
    assert told == [(bert.id,)]


def test_the_look_is_taken_in_slices(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "SLICE", 0.0)
    anna, bert = here.join(), here.join("bert")
    bert.submit(b"rm -rf x")
    here.ask(anna, wire.Seize(wire.Halt.NONE))

    here.world.turn()
    here.world.turn()

    assert inherited(anna.told()) == []
    assert here.world.context.timers.first == 0.0


def test_who_asks_who_is_there_has_been_told_what_it_took_over(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    bert.submit(b"rm -rf x")
    here.ask(anna, wire.Seize(wire.Halt.NONE))

    said = here.ask(anna, presence.Who())

    assert inherited(said) == [(bert.id,)]
    assert isinstance(said[-1], presence.Presence)
    here.world.turn()
    assert inherited(anna.told()) == []


def test_who_has_lost_the_turn_again_is_told_nothing(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    bert.submit(b"rm -rf x")
    here.ask(anna, wire.Seize(wire.Halt.NONE))
    here.ask(anna, wire.Drop())

    here.session.handover.conclude()

    assert inherited(anna.told()) == []


def test_a_holder_that_leaves_has_told_everything(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    bert.submit(b"rm -rf x")
    here.ask(anna, wire.Seize(wire.Halt.NONE))

    here.session.settle()

    assert inherited(anna.told()) == [(bert.id,)]
