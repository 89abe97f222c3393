import json
from pathlib import Path

import pytest
from tests.tools.running import run_tool

from holdfast.cli.main import VERBS
from holdfast.core.policy.policy_file import examine
from holdfast.core.policy.rule_keys import CONDITIONS, FILES, RESOLVED, WORDS
from holdfast.mcp.tools import TOOLS
from holdfast.model.errors import leaves
from holdfast.model.events import EventName

REFERENCE = Path(__file__).parents[2] / "docs/reference"
TOLD = json.loads((REFERENCE / "holdfast.json").read_text("utf-8"))
POLICY = (REFERENCE / "policy.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["mcp", "policy", "agent"])
def test_a_generated_file_is_what_the_code_says(name: str) -> None:
    checked = run_tool(f"write_{name}_reference", "--check")

    assert (checked.returncode, checked.stdout) == (0, "")


def test_the_file_for_programs_has_everything_that_can_be_called() -> None:
    assert [one["name"] for one in TOLD["verbs"]] == list(VERBS)
    assert [one["name"] for one in TOLD["tools"]] == list(TOOLS)


def test_the_file_for_programs_says_of_each_error_whether_to_try_again() -> None:
    said = {one["code"]: (one["retry"], one["next_step"]) for one in TOLD["errors"]}

    assert said == {leaf.code: (leaf.retryable, leaf.next_step) for leaf in leaves()}


def test_the_file_for_programs_has_every_event_with_its_fields() -> None:
    said = {one["name"]: one["fields"] for one in TOLD["events"]}

    assert said == {str(one): list(one.fields) for one in EventName}


def test_every_option_of_a_verb_says_what_it_is() -> None:
    silent = [
        (verb["name"], one["names"])
        for verb in TOLD["verbs"]
        for one in verb["arguments"]
        if one["names"][0].startswith("-") and not one.get("what")
    ]

    assert silent == []


@pytest.mark.parametrize("key", sorted({*CONDITIONS, *WORDS, *FILES, *RESOLVED}))
def test_every_key_of_a_rule_is_on_the_page_of_policies(key: str) -> None:
    assert POLICY.count(f"| `{key}` |") == 1


def test_words_that_the_page_of_policies_offers_are_accepted() -> None:
    section = POLICY.split("## `[undecidable]`")[1].split("\n## ")[0]
    agent = next(line for line in section.splitlines() if line.startswith("| `agent`"))

    assert "`pass`" not in agent
    assert examine(b'[undecidable]\nagent = "deny"\n')[0] is not None
