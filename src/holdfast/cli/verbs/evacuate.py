"""`holdfast evacuate`: have every session that can move go on at another host."""

import argparse

from holdfast.cli.verbs import drain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("host", metavar="HOST")
    parser.add_argument("--deadline", metavar="TIME")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Have it begun, wait for its end, and say what has moved and what has not."""
    return drain.carry_out(options, options.host, only_moves=True)
