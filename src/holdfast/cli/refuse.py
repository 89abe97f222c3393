"""`holdfast refuse`: say no to somebody who asks for the turn."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.naming import operator_from
from holdfast.cli.requesting import add_session_arguments, do_about_turn
from holdfast.wire.messages import Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Keep the turn, and tell an operator that asks for it so. To say yes, use"
        " `give`.",
        {"holdfast refuse web @bot": "bot waits no longer"},
        {64: "nobody of that name has asked", 77: "you do not have the turn"},
    )
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR", help="its name, or its id")


def run(options: argparse.Namespace) -> int:
    """Say no."""
    asker = operator_from(options.operator).actor.id
    return do_about_turn(options, Answer(asker, granted=False))
