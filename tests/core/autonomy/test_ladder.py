"""The rungs, how they are written down, and who may step."""

import pytest
from tests.core.autonomy.book import ANNA, BOT

from holdfast.core.autonomy.ladder import Ladder, Step, ladder_from, may_step
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedMessage
from holdfast.model.verdicts import Verdict

MAKE = "/usr/bin/make test"
UP = Step(BOT, MAKE, Verdict.ASK, Verdict.PREVIEW, "35 of 35")
DOWN = Step(BOT, MAKE, Verdict.PREVIEW, Verdict.ASK, "1 of 3")


def test_a_step_moves_one_rung_and_is_counted() -> None:
    once = Ladder().stepped(UP)
    back = once.stepped(DOWN)

    assert once.rungs == {(BOT, MAKE): Verdict.PREVIEW}
    assert back.rungs == {(BOT, MAKE): Verdict.ASK}
    assert (UP.is_up, DOWN.is_up, back.count) == (True, False, 2)


def test_a_ladder_is_read_back_as_it_was_written() -> None:
    other = Step(ANNA, 'a "b"', Verdict.DENY, Verdict.ASK, "")
    ladder = Ladder().stepped(UP).stepped(other)

    assert ladder_from(ladder.to_text()) == ladder
    assert Ladder().to_text() == ""
    assert ladder_from("") == Ladder()


def test_two_ladders_with_the_same_rungs_are_not_written_alike() -> None:
    there_and_back = Ladder().stepped(UP).stepped(DOWN).stepped(UP)

    assert there_and_back.rungs == Ladder().stepped(UP).rungs
    assert there_and_back.to_text() != Ladder().stepped(UP).to_text()


@pytest.mark.parametrize(
    "text",
    [
        "x",
        '{"steps":0}\n{"actor":"a","action":"b","rung":"ask"}',
        '{"steps":"1"}',
        '{"steps":1}\n{"actor":"a","action":"b","rung":"maybe"}',
        '{"steps":1}\n{"action":"b","actor":"a","rung":"ask"}',
        '{"steps":999}' + '\n{"actor":"a","action":"b","rung":"ask"}' * 257,
    ],
)
def test_what_is_no_ladder_is_refused(text: str) -> None:
    with pytest.raises(MalformedMessage):
        ladder_from(text)


def test_only_a_human_steps_up_and_nobody_is_needed_to_step_down() -> None:
    assert may_step(UP, ActorKind.HUMAN, Ladder())
    for kind in (ActorKind.AGENT, ActorKind.SERVICE, ActorKind.DEVICE, None):
        assert not may_step(UP, kind, Ladder())
        assert may_step(DOWN, kind, Ladder().stepped(UP))


def test_a_step_from_another_rung_than_the_one_in_force_is_none() -> None:
    at_preview = Ladder().stepped(UP)
    jump = Step(BOT, MAKE, Verdict.ASK, Verdict.ALLOW, "")

    assert not may_step(UP, ActorKind.HUMAN, at_preview)
    assert not may_step(jump, ActorKind.HUMAN, Ladder())


@pytest.mark.parametrize("action", ["", "(cannot be told)"])
def test_what_is_no_kind_of_action_has_no_rung(action: str) -> None:
    step = Step(BOT, action, Verdict.ASK, Verdict.PREVIEW, "")

    assert not may_step(step, ActorKind.HUMAN, Ladder())
