import json
import re
from pathlib import Path

import pytest

from holdfast.core.policy_file import read_policy
from holdfast.mcp.tools import TOOLS

PAGE = (Path(__file__).parents[2] / "docs/howto/connect-an-ai-agent.md").read_text()
SNIPPETS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
POLICIES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
TABLE = PAGE.split("## What the agent sees")[1].split("\n\n")[1]


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_every_snippet_starts_the_server_under_a_name_or_bears_a_token(
    snippet: str,
) -> None:
    (servers,) = json.loads(snippet).values()
    server = servers["holdfast"]

    if "command" in server:
        assert server["args"][0::2] == ["--as", "mcp"]
    else:
        assert server["headers"]["Authorization"].startswith("Bearer ")


def test_the_policy_to_begin_with_is_one() -> None:
    (policy,) = POLICIES

    assert len(read_policy(policy.encode()).rules) == 4


def test_the_page_lists_every_tool_and_no_other() -> None:
    rows = TABLE.split("\n")[2:]

    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(TOOLS)
