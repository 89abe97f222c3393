"""`holdfast resize`: resize a session's terminal."""

import argparse

from holdfast.cli.arguments import size_from
from holdfast.cli.manual import describe
from holdfast.cli.one_input import add_shared_arguments, deliver
from holdfast.model.geometry import Size
from holdfast.model.inputs import InputKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Resize a session's terminal, and tell its programs. The next terminal that"
        " attaches with the turn sets its own size again.",
        {"holdfast resize web 120x40": "120 columns, 40 rows"},
        {77: "another operator has the turn, or it is not allowed"},
    )
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or start of an id")
    parser.add_argument("size", metavar="CxR", help="columns and rows, 1 to 1000 each")


def run(options: argparse.Namespace) -> int:
    """Resize the session."""
    size = Size(*size_from(options.size))
    return deliver(options, InputKind.RESIZE, f"{size.columns}x{size.rows}".encode())
