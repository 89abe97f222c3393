"""`holdfast keep`: keep a session in the list after it has ended."""

import argparse

from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.model.session_requests import Keep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Keep a session in the list after it has ended, with its exit status, however"
        " long ago that is and however many have ended since. Other ended sessions"
        " are dropped after a day, and the oldest once there are more than 200;"
        " `holdfast end` still removes it. --off removes the mark.",
        {
            "holdfast keep web": "its exit status stays readable",
            "holdfast keep web --off": "treat it like any other again",
        },
        {77: "you lack the right to end it, which keeping it needs"},
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or start of an id")
    parser.add_argument("--off", action="store_true", help="remove the mark")


def run(options: argparse.Namespace) -> int:
    """Set the mark, or remove it."""
    session = keeper.find(options.session)
    keeper.request(Keep(session.id, not options.off), host=session.host)
    return 0
