"""`holdfast graph`: show a session's processes and listening ports."""

import argparse
import json

from holdfast.cli.operator_names import Names
from holdfast.cli.session_survey import graphs_of, who_listens
from holdfast.cli.tree import facts, picture, process_line
from holdfast.cli.turn_requests import live_session
from holdfast.client import keeper
from holdfast.client.calls import graph
from holdfast.model.errors import MalformedArgument
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable
from holdfast.wire.graphs import MAX_PORT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", nargs="?", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--port", metavar="P", type=int)
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    if options.port is not None:
        return _say_who_listens(options)
    if options.all == (options.session is not None):
        raise MalformedArgument(
            "graph", "called with the name of one session, or with --all"
        )
    if options.all:
        told = [*graphs_of(_living(), descriptors=options.open)]
    else:
        one = keeper.find(options.session)
        told = [(one, graph(one.id, descriptors=options.open))]
    if options.json:
        told_facts = [{"session": one.id, **facts(seen)} for one, seen in told]
        print(json.dumps({"sessions": told_facts} if options.all else told_facts[0]))
        return 0
    names = Names()
    for one, seen in told:
        if options.all:
            print(f"{one.label} ({one.id})")
        print("\n".join(picture(seen, names)))
    return 0


def _living() -> list[SessionRecord]:
    return [one for one in keeper.sessions() if one.exit is None]


def _say_who_listens(options: argparse.Namespace) -> int:
    port = options.port
    if not 0 < port <= MAX_PORT:
        raise MalformedArgument(str(port), f"a port from 1 to {MAX_PORT}")
    sessions = [live_session(options.session)] if options.session else _living()
    found, others = who_listens(port, sessions)
    if options.json:
        known = [one.to_facts() for one in found]
        strangers = [{"pid": one.pid, "name": one.name} for one in others]
        print(json.dumps({"port": port, "listeners": known, "others": strangers}))
        return 0 if found else 1
    for one in found:
        line = process_line(one.process, one.graph, Names())
        print(f"{one.session.label} ({one.session.id}): {line}")
    if not found:
        print(f"no session listens on port {port}")
    if others:
        named = ", ".join(f"{one.name} ({one.pid})" for one in others)
        print(f"of no session that was asked: {printable(named)}")
    return 0 if found else 1
