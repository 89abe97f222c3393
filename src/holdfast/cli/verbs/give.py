"""`holdfast give`: give the turn to another operator."""

import argparse

from holdfast.cli.operator_names import actor_from
from holdfast.cli.turn_requests import add_session_arguments, live_session, report
from holdfast.client.calls import act
from holdfast.wire.messages import Give


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR")


def run(options: argparse.Namespace) -> int:
    """Give the turn."""
    session = live_session(options.session)
    to = actor_from(options.operator, session.id)
    return report(options, session, act(session.id, Give(to)))
