"""`holdfast state`: show what a session is doing now, and how that is known."""

import argparse
import json

from holdfast.cli.turn_requests import add_session_arguments
from holdfast.cli.verbs.ls import state_of
from holdfast.client import keeper
from holdfast.client.calls import state
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable
from holdfast.wire.evidence import Evidence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    session = keeper.find(options.session)
    if session.exit is not None:
        return _over(session, as_json=options.json)
    seen = state(session.id)
    if options.json:
        print(json.dumps({"session": session.id, **facts(seen)}))
        return 0
    print(printable(seen.state) + ("" if seen.sure else " (not sure)"))
    for line in lines(seen):
        print(f"  {line}")
    return 0


def lines(seen: Evidence) -> list[str]:
    """Return the evidence, for people."""
    told = [printable(one) for one in seen.why]
    if seen.foreground:
        echo = "on" if seen.echo else "off"
        reads = "whole lines" if seen.canonical else "single keys"
        told.append(
            f"group {seen.foreground} has the terminal: echo {echo}, reads {reads}"
        )
    if seen.unread:
        told.append(f"{seen.unread} bytes typed and not read")
    return told


def facts(seen: Evidence) -> dict[str, object]:
    """Return the evidence as a JSON object."""
    return {
        "state": seen.state,
        "sure": seen.sure,
        "why": list(seen.why),
        "foreground": seen.foreground or None,
        "echo": seen.echo,
        "canonical": seen.canonical,
        "unread": seen.unread,
        "processes": [
            {"pid": one.pid, "name": one.name, "state": one.state, "where": one.where}
            for one in seen.sleepers
        ],
    }


def _over(session: SessionRecord, *, as_json: bool) -> int:
    if as_json:
        found = {"session": session.id, "state": "exited", "exit": session.exit}
        print(json.dumps({**found, "sure": True}))
    else:
        print(f"exited\n  {state_of(session)}")
    return 0
