"""`holdfast seize`: take the turn from its holder."""

import argparse

from holdfast.cli.turn_requests import add_session_arguments, do_about_turn
from holdfast.wire.messages import Halt, Seize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)
    halt = parser.add_mutually_exclusive_group()
    halt.add_argument("--freeze", action="store_true")
    halt.add_argument("--interrupt", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Seize the turn."""
    halt = Halt.NONE
    if options.freeze:
        halt = Halt.FREEZE
    elif options.interrupt:
        halt = Halt.INTERRUPT
    return do_about_turn(options, Seize(halt))
