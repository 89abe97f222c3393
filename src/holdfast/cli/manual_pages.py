"""The manual pages of the verbs, in `pages/`: texts, read only when help is asked for.

Every `--help` has the same parts in the same order: what the verb does, its
options, examples, exit statuses.
"""

import argparse
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.cli.manual import Manual

PAGES = Path(__file__).parent / "pages"
"""A file for each verb, and one for what every verb may exit with."""


class Page(NamedTuple):
    """The manual page of a verb."""

    what: str
    options: dict[str, str]
    """By the option as it is typed, or by what stands for the argument."""

    examples: dict[str, str]
    statuses: dict[str, str]
    """What it may exit with; those of every verb, unless it says otherwise."""

    @classmethod
    def of(cls, verb: str) -> "Page":
        """Read the page of a verb."""
        own = _read(verb)
        statuses = every_status() | own.get("exit", {})
        return cls(own["what"], own.get("options", {}), own["examples"], statuses)


def every_status() -> dict[str, str]:
    """Return what every verb may exit with."""
    found: dict[str, str] = _read("every_verb")["exit"]
    return found


def describe(parser: argparse.ArgumentParser, page: Page) -> None:
    """Give the parser of a verb the texts of its page."""
    width = max(map(len, page.examples))
    order = sorted(page.statuses, key=lambda one: (not one.isdecimal(), one.zfill(3)))
    parser.description, parser.formatter_class = page.what, Manual
    parser.epilog = "\n".join(
        [
            "examples:",
            *(f"  {one:<{width}}  {why}" for one, why in page.examples.items()),
            "",
            "exit status:",
            *(f"  {status:<4} {page.statuses[status]}" for status in order),
        ]
    )
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to them
        if action.help is None:
            names = [*action.option_strings, str(action.metavar), action.dest]
            known = (page.options[one] for one in names if one in page.options)
            action.help = next(known, None)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((PAGES / f"{name}.toml").read_text("utf-8"))
