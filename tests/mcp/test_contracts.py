import json
from typing import Any

import msgspec
import pytest

from holdfast.mcp import contracts
from holdfast.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from holdfast.model.errors import MalformedArgument
from holdfast.model.expectations import Expectation

MAX_LISTED = 17_000
"""Characters of all tools, which every conversation of an agent begins with."""


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_tool_says_all_that_an_agent_has_to_know(tool: Tool[Any]) -> None:
    schema = contracts.schema_of(tool.takes)

    assert len(tool.description) > 60
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_text_and_list_that_an_agent_sends_has_a_bound(tool: Tool[Any]) -> None:
    for name, field in contracts.schema_of(tool.takes)["properties"].items():
        for one in field.get("anyOf", [field]):
            if one.get("type") == "string":
                assert "maxLength" in one or "enum" in one, name
            if one.get("type") == "array":
                assert "maxItems" in one, name
                assert "maxLength" in one["items"], name


def test_the_tools_named_to_agents_are_there() -> None:
    for name in ("list_sessions", "attach", "screen", "state", "run", "ask_turn"):
        assert name in TOOLS
        assert f"`{name}`" in INSTRUCTIONS


def test_what_a_logbook_keeps_of_an_act_has_no_secret_and_nothing_typed() -> None:
    given = {"session": "s", "intent": "log in", "expected_effect": "in"}
    answer = msgspec.convert({**given, "secret": "hush"}, contracts.Answer)
    send = msgspec.convert({**given, "text": "hush", "enter": True}, contracts.Send)
    keys = msgspec.convert({**given, "keys": ["h", "u"]}, contracts.Keys)

    assert contracts.parameters_of(answer) == "{}"
    assert json.loads(contracts.parameters_of(send)) == {"enter": True}
    assert contracts.parameters_of(keys) == "{}"


def test_what_a_logbook_keeps_of_a_command_is_what_was_asked_for() -> None:
    given = {"session": "s", "intent": "see it", "command": "make", "timeout": 5}
    run = msgspec.convert(given, contracts.Run)

    kept = json.loads(contracts.parameters_of(run))

    assert (kept["command"], kept["timeout"]) == ("make", 5.0)
    assert "intent" not in kept


def test_what_was_not_chosen_is_not_kept() -> None:
    run = contracts.Run(session="s", intent="see it", command="make")

    assert contracts.parameters_of(run) == '{"command":"make"}'


def test_the_list_of_tools_costs_an_agent_no_more_than_it_must() -> None:
    listed = [
        [tool.name, tool.description, contracts.schema_of(tool.takes)]
        for tool in TOOLS.values()
    ]

    assert len(json.dumps(listed)) < MAX_LISTED
    assert len(INSTRUCTIONS) < 1200


def test_what_an_agent_expects_is_read_or_refused() -> None:
    given = {"session": "s", "intent": "see it", "command": "make"}

    def expected(expects: dict[str, Any]) -> Expectation | None:
        whole = {**given, "expects": expects}
        return contracts.expectation_of(msgspec.convert(whole, contracts.Run))

    assert expected({}) is None
    assert expected({"files": ["build"]}) == Expectation(("build",))
    with pytest.raises(MalformedArgument):
        expected({"file": "build"})
