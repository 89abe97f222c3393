"""`holdfast send`: type text into a session."""

import argparse
import os

from holdfast.cli.manual import describe
from holdfast.cli.one_input import add_shared_arguments, deliver
from holdfast.model.inputs import InputKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Type text into a session, arguments joined by a space, exactly as given and"
        " without Enter. Done when the terminal has accepted every byte; use `read`"
        " and `wait` for the program's response.",
        {
            "holdfast send web --enter npm test": "a command line",
            "holdfast send web -- -n --enter": "text that looks like options",
        },
        {77: "another operator has the turn, or it is not allowed"},
    )
    parser.add_argument(
        "--enter", action="store_true", help="press Enter after the text"
    )
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or start of an id")
    parser.add_argument("text", metavar="TEXT", nargs="*", help="text to type")


def run(options: argparse.Namespace) -> int:
    """Type the text."""
    # Arguments that are not UTF-8 are sent as they were written.
    text = os.fsencode(" ".join(options.text)) + (b"\r" if options.enter else b"")
    return deliver(options, InputKind.KEYS, text)
