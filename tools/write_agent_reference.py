"""Write docs/reference/holdfast.json: what a program may look up about holdfast.

Verbs with their options and exit statuses, tools with their schemas, errors with
whether to retry, events with their fields, settings and rights: the same as on the
pages of the reference, in one file that an agent reads instead of them.

python -m tools.write_agent_reference            write it
python -m tools.write_agent_reference --check    exit 1 if it is out of date
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from tools.generated import write
from tools.write_reference import BRANCHES

from holdfast.cli.config_text import MEANING, values
from holdfast.cli.main import ALIASES, EXIT_STATUS, GROUPS, Parser, module_of
from holdfast.cli.manual_pages import Page, every_status
from holdfast.mcp.contracts import schema_of
from holdfast.mcp.tools import INSTRUCTIONS, TOOLS
from holdfast.model.errors import HoldfastError, leaves
from holdfast.model.events import EventName
from holdfast.model.settings import Settings

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "holdfast.json"


def text() -> str:
    """Return the whole file."""
    os.environ["COLUMNS"] = "90"
    told = {
        "what": "Running programs that outlive the terminal they were started from.",
        "pages": {
            "verbs": "cli.md",
            "tools": "mcp.md",
            "errors": "errors.md",
            "events": "events.md",
            "settings": "config.md",
        },
        "verbs": [
            _verb(name, what)
            for group in GROUPS.values()
            for name, what in group.items()
        ],
        "every_verb_exits_with": every_status(),
        "instructions": INSTRUCTIONS,
        "tools": [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "acts": not tool.only_looks,
                "risky": tool.is_risky,
                "parameters": schema_of(tool.takes),
            }
            for tool in TOOLS.values()
        ],
        "errors": [
            _error(branch, leaf) for branch in BRANCHES for leaf in leaves(branch)
        ],
        "events": [
            {"name": str(one), "when": one.when, "fields": list(one.fields)}
            for one in EventName
        ],
        "settings": [
            {"name": name, "what": MEANING[name], "default": usual}
            for name, usual in values(Settings()).items()
            if name in MEANING
        ],
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _verb(name: str, what: str) -> dict[str, Any]:
    parser = Parser(prog=f"holdfast {name}")
    module_of(name).add_arguments(parser)
    page = Page.of(name)
    return {
        "name": name,
        "also": [short for short, verb in ALIASES.items() if verb == name],
        "what": what,
        "description": page.what,
        "usage": " ".join(parser.format_usage().removeprefix("usage: ").split()),
        "arguments": [
            _argument(one, page)
            for one in parser._actions  # noqa: SLF001  # argparse has no other way
            if one.help != argparse.SUPPRESS and one.dest != "help"
        ],
        "examples": page.examples,
        "exits_with": {
            status: why
            for status, why in page.statuses.items()
            if every_status().get(status) != why
        },
    }


def _argument(action: argparse.Action, page: Page) -> dict[str, Any]:
    names = [*action.option_strings, str(action.metavar), action.dest]
    told = {
        "names": list(action.option_strings) or [str(action.metavar or action.dest)],
        "value": None if action.nargs == 0 else str(action.metavar or action.dest),
        "choices": None
        if action.choices is None
        else [str(one) for one in action.choices],
        "what": next(
            (page.options[one] for one in names if one in page.options),
            action.help or "",
        ),
    }
    return {key: value for key, value in told.items() if value}


def _error(branch: type[HoldfastError], leaf: type[HoldfastError]) -> dict[str, Any]:
    return {
        "code": leaf.code,
        "branch": branch.__name__,
        "reaction": BRANCHES[branch],
        "what": (leaf.__doc__ or "").split("\n", maxsplit=1)[0],
        "facts": list(leaf.fields),
        "retry": leaf.retryable,
        "next_step": leaf.next_step,
        "exit_status": EXIT_STATUS[branch],
    }


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
