"""`holdfast resize`: resize a session's terminal."""

import argparse

from holdfast.cli.arguments import size_from
from holdfast.cli.one_input import add_shared_arguments, deliver
from holdfast.model.geometry import Size
from holdfast.model.inputs import InputKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("size", metavar="CxR")


def run(options: argparse.Namespace) -> int:
    """Resize the session."""
    size = Size(*size_from(options.size))
    return deliver(options, InputKind.RESIZE, f"{size.columns}x{size.rows}".encode())
