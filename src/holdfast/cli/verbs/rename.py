"""`holdfast rename`: give a session another name."""

import argparse

from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.model.session_requests import Rename
from holdfast.model.text import checked_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Give a session another name. Its id stays, and so does whoever is attached.",
        {"holdfast rename web shop": "web is now called shop"},
        {77: "you may not end it, which renaming it needs"},
    )
    parser.add_argument("session", metavar="OLD", help="name, id, or how an id begins")
    parser.add_argument("name", metavar="NEW", help="1 to 64 letters, digits, . _ -")


def run(options: argparse.Namespace) -> int:
    """Have it renamed."""
    name = checked_name(options.name)
    session = keeper.find(options.session)
    keeper.request(Rename(session.id, name), host=session.host)
    return 0
