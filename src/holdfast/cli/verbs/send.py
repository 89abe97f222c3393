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
        "Type text into a session, words joined by one space, exactly as given and"
        " without Enter. It is done when the terminal has taken every byte; what the"
        " program makes of it is for `read` and `wait`.",
        {
            "holdfast send web --enter npm test": "a command line",
            "holdfast send web -- -n --enter": "text that looks like options",
        },
        {77: "somebody else has the turn, or it is not allowed"},
    )
    parser.add_argument("--enter", action="store_true", help="press Enter after it")
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument("text", metavar="TEXT", nargs="*", help="what to type")


def run(options: argparse.Namespace) -> int:
    """Type it."""
    # Words that are not UTF-8 arrive as they were written.
    text = os.fsencode(" ".join(options.text)) + (b"\r" if options.enter else b"")
    return deliver(options, InputKind.KEYS, text)
