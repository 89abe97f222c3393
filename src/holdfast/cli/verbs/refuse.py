"""`holdfast refuse`: refuse another operator's request for the turn."""

import argparse

from holdfast.cli.turn_requests import add_operator_arguments, do_with_operator
from holdfast.wire.messages import Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_operator_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Refuse the request."""
    return do_with_operator(options, lambda asker: Answer(asker, granted=False))
