"""`holdfast drop`: release the turn."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import add_session_arguments, do_about_turn
from holdfast.wire.messages import Drop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Release the turn. The operator who has waited longest gets it; if nobody"
        " waits, it is free.",
        {"holdfast drop web": "others may write now"},
        {77: "you do not have the turn"},
    )
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Release the turn."""
    return do_about_turn(options, Drop())
