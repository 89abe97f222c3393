"""`holdfast freeze`: stop every process of a session."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import add_session_arguments, do_request
from holdfast.wire.messages import Freeze


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Stop every process of a session. No input reaches it"
        " until `thaw`; you can still watch it.",
        {
            "holdfast freeze web": "everything stops",
            "holdfast seize web --freeze": "and take the turn too",
        },
        {77: "you lack the right to seize, which freezing needs"},
    )
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Freeze the session."""
    return do_request(options, Freeze())
