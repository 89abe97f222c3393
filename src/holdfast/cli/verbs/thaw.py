"""`holdfast thaw`: let a frozen session run again."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import add_session_arguments, do_request
from holdfast.wire.messages import Thaw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Let the processes of a frozen session run again from where they stood.",
        {"holdfast thaw web": "it goes on"},
        {77: "you may not seize here, and so not thaw"},
    )
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Let it run."""
    return do_request(options, Thaw())
