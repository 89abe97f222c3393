"""`holdfast send`: type text into a session."""

import argparse
import os

from holdfast.cli.one_input import add_shared_arguments, deliver
from holdfast.model.inputs import InputKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--enter", action="store_true")
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("text", metavar="TEXT", nargs="*")


def run(options: argparse.Namespace) -> int:
    """Type the text."""
    # Arguments that are not UTF-8 are sent as they were written.
    text = os.fsencode(" ".join(options.text)) + (b"\r" if options.enter else b"")
    return deliver(options, InputKind.KEYS, text)
