"""`holdfast keep`: keep a session in the list after it has ended."""

import argparse

from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.model.session_requests import Keep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Leave a session in the list after it has ended, with its exit status, however"
        " long ago that is and however many have ended since. Others go after a day,"
        " and the oldest of more than 200 at once; `holdfast end` still removes it."
        " With --off it is treated like any other again.",
        {
            "holdfast keep web": "its exit status stays to be read",
            "holdfast keep web --off": "no longer",
        },
        {77: "you may not end it, which keeping it needs"},
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument("--off", action="store_true", help="take the mark away")


def run(options: argparse.Namespace) -> int:
    """Have the mark set or taken away."""
    session = keeper.find(options.session)
    keeper.request(Keep(session.id, not options.off), host=session.host)
    return 0
