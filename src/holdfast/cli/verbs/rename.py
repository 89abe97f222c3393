"""`holdfast rename`: rename a session."""

import argparse

from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.model.session_requests import Rename
from holdfast.model.text import checked_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Rename a session. Its id stays, and attached operators stay attached.",
        {"holdfast rename web shop": "web is now called shop"},
        {77: "you lack the right to end it, which renaming needs"},
    )
    parser.add_argument("session", metavar="OLD", help="name, id, or start of an id")
    parser.add_argument("name", metavar="NEW", help="1 to 64 letters, digits, . _ -")


def run(options: argparse.Namespace) -> int:
    """Rename the session."""
    name = checked_name(options.name)
    session = keeper.find(options.session)
    keeper.request(Rename(session.id, name), host=session.host)
    return 0
