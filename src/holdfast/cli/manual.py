"""The help text of a verb.

Every `--help` has the same parts in the same order: what the verb does, its
options, examples, exit statuses. argparse writes the options; the rest is here.
"""

import argparse
import os

WIDTH = 80
"""Columns where there is no terminal to ask."""

MAX_WIDTH = 100
"""Columns used of a wide terminal: longer lines are hard to read."""

STATUSES = {
    0: "done",
    64: "the request is wrong: no such session, no such option, not a terminal",
    70: "an error this version does not know",
    74: "the output could not be written",
    75: "not now: nothing answered, or the time ran out; trying later may help",
    76: "the other side broke the protocol",
    77: "not allowed, or not your turn",
    130: "interrupted from the keyboard",
    141: "the reader of the output went away",
}
"""The exit statuses of every verb; the numbers under 128 are from sysexits(3)."""


class Manual(argparse.RawDescriptionHelpFormatter):
    """The layout of help: as wide as the terminal, with given line breaks kept.

    argparse makes one of these for each option, even when nobody asks for help, and to
    learn the width it would import the modules that unpack archives.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(_width(), MAX_WIDTH) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        # Text without line breaks is filled by the class above, which fills everything.
        return super(argparse.RawDescriptionHelpFormatter, self)._fill_text(
            text, width, indent
        )


def describe(
    parser: argparse.ArgumentParser,
    what: str,
    examples: dict[str, str],
    statuses: dict[int | str, str] | None = None,
) -> None:
    """Give `parser` the text around its options."""
    width = max(map(len, examples))
    lines = [f"  {example:<{width}}  {why}" for example, why in examples.items()]
    parser.description = what
    parser.epilog = "\n".join(
        [
            "examples:",
            *lines,
            "",
            "exit status:",
            *(f"  {status:<4} {why}" for status, why in _ordered(statuses or {})),
        ]
    )
    parser.formatter_class = Manual


def _ordered(own: dict[int | str, str]) -> list[tuple[int | str, str]]:
    """Return all exit statuses of a verb, in its own words where it has some."""
    every = own | {code: why for code, why in STATUSES.items() if code not in own}
    return sorted(every.items(), key=lambda one: (isinstance(one[0], str), one[0]))


def _width() -> int:
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(1).columns or WIDTH
    except OSError:
        return WIDTH
