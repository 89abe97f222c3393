"""`holdfast seize`: take the turn from whoever has it."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import GRACE, add_session_arguments, do_about_turn
from holdfast.wire.messages import Halt, Seize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Take the turn, even if another operator has it. Nothing more from that"
        " operator is written; its queued input is discarded." + GRACE,
        {
            "holdfast seize web": "take over",
            "holdfast seize web --freeze": "and stop every process",
            "holdfast seize web --interrupt": "and interrupt the running command",
        },
        {77: "you lack the right to seize"},
    )
    add_session_arguments(parser)
    halt = parser.add_mutually_exclusive_group()
    halt.add_argument(
        "--freeze", action="store_true", help="stop every process of the session"
    )
    halt.add_argument(
        "--interrupt", action="store_true", help="interrupt the foreground command"
    )


def run(options: argparse.Namespace) -> int:
    """Seize the turn."""
    halt = Halt.NONE
    if options.freeze:
        halt = Halt.FREEZE
    elif options.interrupt:
        halt = Halt.INTERRUPT
    return do_about_turn(options, Seize(halt))
