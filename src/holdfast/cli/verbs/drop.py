"""`holdfast drop`: release the turn."""

import argparse

from holdfast.cli.turn_requests import add_session_arguments, do_about_turn
from holdfast.wire.messages import Drop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Release the turn."""
    return do_about_turn(options, Drop())
