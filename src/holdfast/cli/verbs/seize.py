"""`holdfast seize`: take the turn, whoever has it."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import GRACE, add_session_arguments, do_about_turn
from holdfast.wire.messages import Halt, Seize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Take the turn, whoever has it and whatever it does. No byte of the former"
        " holder is written any more; what it had in line is thrown away." + GRACE,
        {
            "holdfast seize web": "take the wheel",
            "holdfast seize web --freeze": "and stop everything where it stands",
            "holdfast seize web --interrupt": "and press Ctrl-C, as it were",
        },
        {77: "you may not seize here"},
    )
    add_session_arguments(parser)
    halt = parser.add_mutually_exclusive_group()
    halt.add_argument(
        "--freeze", action="store_true", help="stop every process of the session"
    )
    halt.add_argument(
        "--interrupt", action="store_true", help="interrupt what runs in the foreground"
    )


def run(options: argparse.Namespace) -> int:
    """Seize it."""
    halt = Halt.NONE
    if options.freeze:
        halt = Halt.FREEZE
    elif options.interrupt:
        halt = Halt.INTERRUPT
    return do_about_turn(options, Seize(halt))
