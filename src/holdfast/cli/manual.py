"""The layout of help, as wide as the terminal."""

import argparse
import os

WIDTH = 80
"""Columns where there is no terminal to ask."""

MAX_WIDTH = 100
"""Columns used of a wide terminal: longer lines are hard to read."""


class Manual(argparse.RawDescriptionHelpFormatter):
    """The layout of help: as wide as the terminal, with line breaks kept.

    argparse makes one of these for each option, even when no help is asked for, and to
    learn the width it would import the modules that unpack archives.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(_width(), MAX_WIDTH) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            self._filled(paragraph, width, indent) for paragraph in text.split("\n\n")
        )

    def _filled(self, paragraph: str, width: int, indent: str) -> str:
        if "\n" in paragraph:
            return super()._fill_text(paragraph, width, indent)
        # A paragraph without line breaks is filled by the class above, which fills all.
        return super(argparse.RawDescriptionHelpFormatter, self)._fill_text(
            paragraph, width, indent
        )


def _width() -> int:
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(1).columns or WIDTH
    except OSError:
        return WIDTH
