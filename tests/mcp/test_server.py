"""What the server adds to what a tool answers."""

from collections.abc import Iterator

import pytest
from tests.mcp.support import agent, told
from tests.scenarios.agents import WHY, shell
from tests.scenarios.support import Machine, machine

from holdfast.wire import messages as wire

ON = {"session": "build", "intent": WHY}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_a_refusal_says_by_name_and_kind_who_has_the_turn(here: Machine) -> None:
    session = shell(here)
    anna = here.join(session, "anna")
    assert anna.request(wire.Take()) is None

    async def story() -> dict[str, object]:
        async with agent() as bot:
            return await bot.refused("send", **ON, text="x")

    refused = told(story)

    assert refused["code"] == "not-your-turn"
    said = str(refused)
    assert "anna (human)" in said
    assert anna.operator.actor.id not in said
