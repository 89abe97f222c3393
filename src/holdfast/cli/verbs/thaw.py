"""`holdfast thaw`: resume a frozen session."""

import argparse

from holdfast.cli.turn_requests import add_session_arguments, live_session, report
from holdfast.client.calls import presence, request
from holdfast.wire.messages import Thaw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Thaw the session; say so if it was not frozen."""
    session = live_session(options.session)
    was_frozen = presence(session.id).frozen
    done = request(session.id, Thaw())
    if not was_frozen and not options.json:
        print(f"{session.label} was not frozen")
        return 0
    return report(options, session, done)
