"""`holdfast thaw`: resume a frozen session."""

import argparse

from holdfast.cli.turn_requests import add_session_arguments, do_request
from holdfast.wire.messages import Thaw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Thaw the session."""
    return do_request(options, Thaw())
