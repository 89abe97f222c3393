import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.model.events import EventName

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/events.md").read_text("utf-8")
ROW = re.compile(r"^\| `([a-z.]+)` \| ([^|]+\.) \|([^|]*)\|$", re.MULTILINE)
TABLE = {
    name: (when, re.findall(r"`(\w+)`", rest)) for name, when, rest in ROW.findall(PAGE)
}
EVERYWHERE = {"incarnation"}


def published(source: str) -> Iterator[tuple[str, set[str]]]:
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            aliases = dict(named(function))
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and call.args:
                    event = event_name(call.args[0], aliases)
                    if event is not None:
                        yield event, fields(call)


def named(function: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            event = event_name(node.value, {})
            if event is not None:
                yield node.targets[0].id, event


def event_name(node: ast.expr, aliases: dict[str, str]) -> str | None:
    match node:
        case ast.Attribute(ast.Name("EventName"), attribute):
            return EventName[attribute].value
        case ast.Name(name):
            return aliases.get(name)
        case _:
            return None


def fields(call: ast.Call) -> set[str]:
    keys: set[object] = {keyword.arg for keyword in call.keywords}
    for argument in call.args:
        if isinstance(argument, ast.Dict):
            found = (key for key in argument.keys if isinstance(key, ast.Constant))
            keys |= {key.value for key in found}
    return {str(key) for key in keys if key is not None}


PUBLISHED = [
    (path.relative_to(ROOT).as_posix(), event, keys)
    for path in sorted((ROOT / "src").rglob("*.py"))
    for event, keys in published(path.read_text("utf-8"))
]


def test_the_page_lists_the_events_of_the_code_in_their_order() -> None:
    assert list(TABLE) == [name.value for name in EventName]


@pytest.mark.parametrize(("path", "event", "keys"), PUBLISHED)
def test_what_is_published_is_on_the_page(
    path: str, event: str, keys: set[str]
) -> None:
    unknown = keys - set(TABLE[event][1]) - EVERYWHERE

    assert not unknown, f"{path} publishes {event} with {unknown}"


def test_published_events_are_found_in_the_code() -> None:
    source = """
def f(self):
    name = EventName.VIEWER_CUT
    self.publish(name, pending=1)
    Event(EventName.LOG_TORN, session, {"bytes": 3})
    other(1)
"""

    assert list(published(source)) == [
        ("viewer.cut", {"pending"}),
        ("log.torn", {"bytes"}),
    ]
