"""`holdfast keep`: keep a session from being reaped, and listed after its end."""

import argparse

from holdfast.client import keeper
from holdfast.model.session_requests import Keep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("--off", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Set the mark, or remove it."""
    session = keeper.find(options.session)
    keeper.request(Keep(session.id, not options.off), host=session.host)
    return 0
