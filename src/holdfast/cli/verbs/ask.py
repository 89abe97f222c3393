"""`holdfast ask`: ask for the turn, and wait for the answer."""

import argparse
import math

from holdfast.cli.turn_requests import (
    add_session_arguments,
    live_session,
    report,
)
from holdfast.client.calls import wait_turn
from holdfast.core.client.timeouts import ASK_TURN
from holdfast.model.errors import MalformedArgument
from holdfast.wire.messages import MAX_ASK_MS

LONGEST = MAX_ASK_MS / 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--timeout", metavar="S", type=float, default=ASK_TURN)
    parser.add_argument("--wait", action="store_true")
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and wait."""
    seconds = LONGEST if options.wait else options.timeout
    if not (math.isfinite(seconds) and 0 < seconds <= LONGEST):
        raise MalformedArgument(str(seconds), "a time of more than 0 s, at most a day")
    session = live_session(options.session)
    return report(options, session, wait_turn(session.id, seconds))
