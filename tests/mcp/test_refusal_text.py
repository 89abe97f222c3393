import re

import pytest

from holdfast.mcp import refusal_text
from holdfast.mcp.tools import TOOLS
from holdfast.model.errors import (
    CommandGoesOn,
    DeniedByPolicy,
    HoldfastError,
    NotYourTurn,
    leaves,
)
from holdfast.model.ids import ActorId, Epoch

ANNA = ActorId("a_" + "a" * 32)


def test_a_refusal_says_what_was_refused_and_what_to_do() -> None:
    told = refusal_text.refusal_facts(NotYourTurn(ANNA, Epoch(3)))["error"]

    assert (told["code"], told["was_done"]) == ("not-your-turn", "no")
    assert "ask_turn" in told["next_step"]
    assert ANNA in told["facts"].values()


def test_what_may_have_been_done_is_not_said_to_be_undone() -> None:
    told = refusal_text.refusal_facts(CommandGoesOn(7, 100, "running"))["error"]

    assert told["was_done"] == "not known"


def test_an_agent_without_a_policy_is_told_where_one_is() -> None:
    told = refusal_text.refusal_facts(DeniedByPolicy("default-agent", ""))["error"]

    assert "connect-an-ai-agent" in told["next_step"]


def test_text_that_a_terminal_would_obey_is_escaped() -> None:
    told = refusal_text.malformed_facts("run", "\x1b[2J")["error"]

    assert "\x1b" not in told["text"]


@pytest.mark.parametrize("code", refusal_text.NEXT_STEPS)
def test_every_next_step_is_for_an_error_that_there_is(code: str) -> None:
    assert code in {leaf.code for leaf in leaves()}


def test_next_steps_speak_of_tools_that_there_are() -> None:
    for step in (*refusal_text.NEXT_STEPS.values(), *refusal_text.BY_BRANCH.values()):
        for word in step.split("`")[1::2]:
            assert word in TOOLS, step


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.code)
def test_no_next_step_speaks_of_commands_that_an_agent_does_not_have(
    leaf: type[HoldfastError],
) -> None:
    error = leaf.__new__(leaf)
    error.facts = {}

    step = refusal_text.refusal_facts(error)["error"]["next_step"]

    assert step
    assert not re.search(r"`holdfast|--|policy\.toml", step)


def test_ids_are_replaced_by_names_and_empty_facts_are_left_out() -> None:
    told = refusal_text.refusal_facts(
        NotYourTurn(ANNA, Epoch(3)), lambda text: text.replace(ANNA, "anna (human)")
    )["error"]

    assert told["text"] == "anna (human) has the turn (epoch 3)"
    assert told["facts"] == {"holder": "anna (human)", "epoch": 3}
    assert "notes" not in told
    free = refusal_text.refusal_facts(NotYourTurn("", Epoch(3)))["error"]
    assert free["facts"] == {"epoch": 3}
