"""`holdfast give`: give the turn to somebody."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.operator_names import actor_from
from holdfast.cli.turn_requests import add_session_arguments, live_session, report
from holdfast.client.calls import act
from holdfast.wire.messages import Give


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Give your turn to another operator, who has to be attached, whether or not"
        " it has asked for it. To say no to whoever asked, use `refuse`.",
        {
            "holdfast give web @bot": "bot may write now",
            "holdfast who web": "who is here, and who has asked",
        },
        {77: "you do not have the turn, or nobody is called that"},
    )
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR", help="its name, or its id")


def run(options: argparse.Namespace) -> int:
    """Give it."""
    session = live_session(options.session)
    to = actor_from(options.operator, session.id)
    return report(options, session, act(session.id, Give(to)))
