"""Write docs/reference/mcp.md from the tools that agents are given.

python -m tools.write_mcp_reference            write it
python -m tools.write_mcp_reference --check    exit 1 if it is not what would be written
"""

from pathlib import Path
from typing import Any

from tools.generated import write

from holdfast.mcp.contracts import schema_of
from holdfast.mcp.tools import INSTRUCTIONS, TOOLS, Tool

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "mcp.md"

INTRODUCTION = """\
# The tools for agents

For people who let an AI agent work in sessions, and want to know what it can call.

`holdfast mcp` serves these tools over MCP ([connect an AI agent]\
(../howto/connect-an-ai-agent.md)).
Each call is made in the name of the agent's own operator, with its rights, under the \
policy.
A refusal is a tool error with the code of an [error](errors.md), whether to retry, \
and what to do next.
*Acts* are recorded in the logbook with their `intent`, their parameters and \
`expected_effect`.
`tools/write_mcp_reference.py` writes this page from the code.
"""

BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "{} or more",
    "maximum": "{} or less",
    "exclusiveMinimum": "over {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
}


def text() -> str:
    """Return the whole page."""
    lines = (line.strip() for line in INSTRUCTIONS.split("\n"))
    said = "\n".join(f"> {line}".rstrip() for line in lines)
    parts = [INTRODUCTION, "Every agent is told this first:\n", said + "\n"]
    for title, only_looks in (("Tools that look", True), ("Tools that act", False)):
        parts.append(f"## {title}\n")
        parts += [_tool(one) for one in TOOLS.values() if one.only_looks is only_looks]
    return "\n".join(parts)


def _tool(tool: Tool[Any]) -> str:
    schema = schema_of(tool.takes)
    required = schema.get("required", [])
    marks = "It can destroy something.\n" if tool.is_risky else ""
    head = ["| parameter | type | needed | what it is |", "| --- | --- | --- | --- |"]
    rows = [
        _row(name, field, needed=name in required)
        for name, field in schema["properties"].items()
    ]
    return "\n".join([f"### {tool.name}\n", tool.description, marks, *head, *rows, ""])


def _row(name: str, field: dict[str, Any], *, needed: bool) -> str:
    bounds = [told.format(field[key]) for key, told in BOUNDS.items() if key in field]
    usual = [f"default {_literal(field['default'])}"] if "default" in field else []
    said = [one for one in (field.get("description", ""), *bounds, *usual) if one]
    told = "; ".join(one.rstrip(".") for one in said).replace("|", "\\|")
    return f"| `{name}` | {_type(field)} | {'yes' if needed else ''} | {told} |"


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(_literal(one) for one in field["enum"])
    if "anyOf" in field:
        return " or ".join(map(_type, field["anyOf"]))
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return str(field.get("type", "any"))


def _literal(value: object) -> str:
    return f"`{value}`"


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
