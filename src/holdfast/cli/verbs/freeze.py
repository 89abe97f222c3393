"""`holdfast freeze`: stop every process of a session."""

import argparse

from holdfast.cli.turn_requests import add_session_arguments, do_request
from holdfast.wire.messages import Freeze


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Freeze the session."""
    return do_request(options, Freeze())
