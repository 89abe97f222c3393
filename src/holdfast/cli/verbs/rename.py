"""`holdfast rename`: rename a session."""

import argparse

from holdfast.client import keeper
from holdfast.model.session_requests import Rename
from holdfast.model.text import checked_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="OLD")
    parser.add_argument("name", metavar="NEW")


def run(options: argparse.Namespace) -> int:
    """Rename the session."""
    name = checked_name(options.name)
    session = keeper.find(options.session)
    keeper.request(Rename(session.id, name), host=session.host)
    return 0
