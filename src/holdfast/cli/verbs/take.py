"""`holdfast take`: take the turn, if it is free."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import GRACE, add_session_arguments, do_about_turn
from holdfast.wire.messages import Take


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Take the turn, the right to write to a session, if nobody has it." + GRACE,
        {
            "holdfast take web": "now you may type",
            "holdfast --as bot take web": "now bot may type",
        },
        {77: "another operator has the turn, or it is not allowed"},
    )
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Take the turn."""
    return do_about_turn(options, Take())
