"""`holdfast state`: show what a session is doing now, and how that is known."""

import argparse
import json

import msgspec

from holdfast.cli import state_text
from holdfast.cli.turn_requests import add_session_arguments
from holdfast.cli.verbs.ls import state_of
from holdfast.client import keeper
from holdfast.client.calls import state
from holdfast.model.session_record import SessionRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    session = keeper.find(options.session)
    if session.exit is not None:
        return _over(session, as_json=options.json)
    seen = msgspec.to_builtins(state(session.id))
    if options.json:
        print(json.dumps(state_text.facts(session.id, session.facts(), seen)))
    else:
        print("\n".join(state_text.lines(seen)))
    return 0


def _over(session: SessionRecord, *, as_json: bool) -> int:
    if as_json:
        found = {"session": session.id, "runtime": session.runtime}
        over = {"state": "exited", "exit": session.exit, "sure": True}
        print(json.dumps({**found, **over}))
    else:
        print(f"exited\n  {state_of(session)}")
    return 0
