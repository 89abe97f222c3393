"""`holdfast ask`: ask for the turn, and wait for the answer."""

import argparse
import math

from holdfast.cli.manual import describe
from holdfast.cli.turn_requests import (
    GRACE,
    add_session_arguments,
    live_session,
    report,
)
from holdfast.client.calls import wait_turn
from holdfast.model.errors import MalformedArgument
from holdfast.wire.messages import MAX_ASK_MS

TIMEOUT = 60.0
"""Seconds a person needs to see the request and answer."""

LONGEST = MAX_ASK_MS / 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Ask the operator who has the turn for it, and wait for the answer. A free"
        " turn is yours at once. If you stop waiting, the request is withdrawn."
        + GRACE,
        {
            "holdfast ask web": "wait a minute for it",
            "holdfast ask web --wait": "wait as long as it takes",
            "holdfast --as bot ask web --timeout 5": "from a script",
        },
        {
            0: "the turn is yours",
            75: "the turn was refused, or nobody answered in time",
        },
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        default=TIMEOUT,
        help=f"seconds to wait ({TIMEOUT:.0f})",
    )
    parser.add_argument(
        "--wait", action="store_true", help="wait as long as it takes, a day at most"
    )
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and wait."""
    seconds = LONGEST if options.wait else options.timeout
    if not (math.isfinite(seconds) and 0 < seconds <= LONGEST):
        raise MalformedArgument(str(seconds), "a time of more than 0 s, at most a day")
    session = live_session(options.session)
    return report(options, session, wait_turn(session.id, seconds))
