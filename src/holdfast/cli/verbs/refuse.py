"""`holdfast refuse`: say no to somebody who asks for the turn."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.operator_names import actor_from
from holdfast.cli.turn_requests import add_session_arguments, live_session, report
from holdfast.client.calls import act
from holdfast.wire.messages import Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Keep the turn, and tell an operator that asks for it so. To say yes, use"
        " `give`.",
        {"holdfast refuse web @bot": "bot waits no longer"},
        {64: "nobody of that name has asked", 77: "you do not have the turn"},
    )
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR", help="its name, or its id")


def run(options: argparse.Namespace) -> int:
    """Say no."""
    session = live_session(options.session)
    asker = actor_from(options.operator, session.id)
    return report(options, session, act(session.id, Answer(asker, granted=False)))
