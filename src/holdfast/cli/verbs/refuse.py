"""`holdfast refuse`: refuse another operator's request for the turn."""

import argparse

from holdfast.cli.operator_names import actor_from
from holdfast.cli.turn_requests import add_session_arguments, live_session, report
from holdfast.client.calls import act
from holdfast.wire.messages import Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR")


def run(options: argparse.Namespace) -> int:
    """Refuse the request."""
    session = live_session(options.session)
    asker = actor_from(options.operator, session.id)
    return report(options, session, act(session.id, Answer(asker, granted=False)))
