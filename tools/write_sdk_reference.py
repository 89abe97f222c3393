"""Write docs/reference/sdk.md from the SDK's signatures and docstrings.

python -m tools.write_sdk_reference            write it
python -m tools.write_sdk_reference --check    exit 1 if it is not what would be written
"""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

from tools.generated import write

import holdfast
from holdfast.sdk import events

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "sdk.md"

INTRODUCTION = """\
# The SDK

For people who call holdfast from Python and have read [how](../howto/use-the-sdk.md).

Everything here is a name of the package `holdfast`.
`holdfast.sync` has `connect`, `Host` and `Session` without `await`.
What is raised is in `holdfast.errors` ([errors](errors.md)): catch a branch.
`tools/write_sdk_reference.py` writes this page from the code.
"""

CLASSES = ("Host", "Session")
VALUES = (
    *("SessionInfo", "CommandResult", "Stop", "Screen", "Cursor", "Chunk", "Match"),
    *("State", "Listening", "Standing"),
)
_QUALIFIED = re.compile(r"\b(?:[a-z_]+\.)+([A-Z]\w*)")
_NAMED = re.compile(r"'(\w+)'|<Signals\.(\w+): \d+>")


INSIDE = ("converse", "line")
"""What a host offers to its own sessions, and not to programs."""


def text() -> str:
    """Return the page as it should be."""
    parts = [INTRODUCTION, "## connect\n", *_function(holdfast.connect)]
    for name in CLASSES:
        kind = getattr(holdfast, name)
        parts += [f"## {name}\n", f"{inspect.getdoc(kind)}\n"]
        for word, found in _methods(kind):
            parts += [f"### {name}.{word}\n", *_function(found)]
    parts.append("## What is returned\n")
    for name in VALUES:
        parts += _value(getattr(holdfast, name))
    parts += ["## Events\n", f"{_first(inspect.getdoc(events))}\n"]
    parts += [line for kind in _events() for line in _value(kind, "events.")]
    return "\n".join(parts)


def _methods(kind: type) -> Iterator[tuple[str, Callable[..., object]]]:
    names = [word for base in kind.__mro__ for word in vars(base)]
    for word in dict.fromkeys(names):
        found = inspect.getattr_static(kind, word)
        if not word.startswith("_") and callable(found) and word not in INSIDE:
            yield word, found


def _function(found: Callable[..., object]) -> list[str]:
    signature = inspect.signature(found)
    kept = [one for one in signature.parameters.values() if one.name != "self"]
    written = str(signature.replace(parameters=kept))
    plain = inspect.unwrap(found)
    is_awaited = inspect.iscoroutinefunction(plain)
    before = "await " if is_awaited else "async with " * (plain is not found)
    shown = _NAMED.sub(r"\1\2", _QUALIFIED.sub(r"\1", written)).replace("''", '""')
    doc = inspect.getdoc(found) or ""
    said, _, raised = doc.partition("\n\nRaises:\n")
    lines = [f"```python\n{before}{found.__name__}{shown}\n```\n", f"{said}\n"]
    if raised:
        rows = re.sub(r"\n\s{8,}", " ", inspect.cleandoc(raised)).splitlines()
        lines += ["Raises:\n", *(f"- {row.strip()}" for row in rows if row.strip())]
        lines.append("")
    return lines


def _value(kind: type, before: str = "") -> list[str]:
    lines = [f"### {before}{kind.__name__}\n", f"{inspect.getdoc(kind)}\n"]
    names = [one.name for one in dataclasses.fields(kind)] if _is_data(kind) else []
    names += getattr(kind, "_fields", getattr(kind, "__struct_fields__", ()))
    properties = {
        word: one
        for base in reversed(kind.__mro__)
        for word, one in vars(base).items()
        if isinstance(one, property)
    }
    if names:
        lines.append("Fields: " + ", ".join(f"`{name}`" for name in names) + ".\n")
    lines += [
        f"- `{word}`: {_first(inspect.getdoc(one))}" for word, one in properties.items()
    ]
    return [*lines, ""] if properties else lines


def _is_data(kind: type) -> bool:
    return dataclasses.is_dataclass(kind)


def _events() -> tuple[type, ...]:
    return (events.Command, *get_args(events.Event))


def _first(doc: str | None) -> str:
    return (doc or "").partition("\n")[0]


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
