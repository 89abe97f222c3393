"""`holdfast graph`: show what runs in a session, and what listens where."""

import argparse
import json

from holdfast.cli.manual import describe
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
    describe(
        parser,
        "Show what runs in a session as a tree: command, state, memory, processor"
        " time, age, ports, and who started it as far as that is known. With --all,"
        " of every session. With --port, say which process of which session listens"
        " there, or that none does. All of it is the kernel's answer at this moment.",
        {
            "holdfast graph web": "a tree",
            "holdfast graph web --open": "with all that each process has open",
            "holdfast graph --all --json": "every session, for programs",
            "holdfast graph --port 3000": "who listens on port 3000?",
        },
        {0: "it was shown; with --port: somebody listens", 1: "nobody listens there"},
    )
    parser.add_argument(
        "session", nargs="?", metavar="NAME", help="name, id, or how an id begins"
    )
    parser.add_argument("--all", action="store_true", help="of every session")
    parser.add_argument("--port", metavar="P", type=int, help="who listens there?")
    parser.add_argument("--open", action="store_true", help="with descriptors")
    parser.add_argument("--json", action="store_true", help="print facts for programs")


def run(options: argparse.Namespace) -> int:
    """Ask, and show it."""
    if options.port is not None:
        return _say_who_listens(options)
    if options.all == (options.session is not None):
        raise MalformedArgument("graph", "with the name of one session, or with --all")
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
