"""`holdfast give`: give the turn to another operator."""

import argparse

from holdfast.cli.turn_requests import add_operator_arguments, do_with_operator
from holdfast.wire.messages import Give


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_operator_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Give the turn."""
    return do_with_operator(options, Give)
