"""`holdfast freeze`: stop every process of a session where it stands."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import add_session_arguments, do_request
from holdfast.wire.messages import Freeze


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Stop every process of a session where it stands. Nothing is written to it"
        " until `thaw`; it can be watched all the same.",
        {
            "holdfast freeze web": "everything stands still",
            "holdfast seize web --freeze": "and the turn is yours too",
        },
        {77: "you may not seize here, and so not freeze"},
    )
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Stop it."""
    return do_request(options, Freeze())
