"""`holdfast blame`: show who is behind something in a session."""

import argparse
import json
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.cli import blame_text
from holdfast.cli.operator_names import Names
from holdfast.cli.turn_requests import add_session_arguments, live_session
from holdfast.client import blame_query, keeper
from holdfast.client.calls import blame, graph
from holdfast.model.errors import MalformedArgument, OnlyHere
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable
from holdfast.wire.blame import MAX_BLAMED
from holdfast.wire.graphs import MAX_PORT

ITEMS = {
    "var": "variable",
    "alias": "alias",
    "function": "function",
    "option": "option",
    "trap": "trap",
    "path_entry": "path-entry",
}
"""The kind of shell state that each option asks about."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--var", metavar="NAME")
    which.add_argument("--alias", metavar="NAME")
    which.add_argument("--function", metavar="NAME")
    which.add_argument("--option", metavar="NAME")
    which.add_argument("--trap", metavar="SIGNAL")
    which.add_argument("--path-entry", metavar="FOLDER")
    which.add_argument("--file", metavar="PATH")
    which.add_argument("--pid", metavar="N", type=int)
    which.add_argument("--port", metavar="N", type=int)
    which.add_argument("--line", action="store_true")


class _Answer(NamedTuple):
    """What was found out, for programs and for people; lines are made when printed."""

    what: str
    facts: dict[str, object]
    lines: Iterator[str]
    is_named: bool


def run(options: argparse.Namespace) -> int:
    """Ask the session's holder, and say it."""
    session = live_session(options.session)
    found = _answer(session, options)
    if options.json:
        facts = {"session": session.id, "what": found.what, **found.facts}
        print(json.dumps(facts))
    else:
        for line in found.lines:
            print(line)
    return 0 if found.is_named else 1


def _answer(session: SessionRecord, options: argparse.Namespace) -> _Answer:
    if options.line:
        return _line(session)
    if options.file is not None:
        return _file(session, options.file)
    if options.pid is not None or options.port is not None:
        return _processes(session, options)
    option = next(name for name in ITEMS if getattr(options, name) is not None)
    return _item(session, ITEMS[option], getattr(options, option))


def _item(session: SessionRecord, what: str, name: str) -> _Answer:
    if not 0 < len(name) <= MAX_BLAMED:
        wanted = f"the name of a {what}, of at most {MAX_BLAMED} characters"
        raise MalformedArgument(printable(name), wanted)
    report = blame(session.id, what, name)
    if what == "trap" and report.standing == "absent":
        # Shells differ in what they call a signal.
        report = blame(session.id, what, _other_name(name))
    lines = blame_text.item_told(f"{what} {printable(name)}", report, Names())
    facts = {"name": name, **blame_text.report_facts(report)}
    return _Answer(what, facts, lines, blame_text.is_named(report))


def _other_name(signal: str) -> str:
    return signal[3:] if signal.startswith("SIG") else f"SIG{signal}"


def _file(session: SessionRecord, path: str) -> _Answer:
    if session.host:
        raise OnlyHere("blaming a remote file")
    try:
        found = blame_query.file(session.id, path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "the name is not valid"
        raise MalformedArgument(
            printable(path), f"a file that can be examined: {why}"
        ) from None
    names = Names()
    lines = (blame_text.file_told(one, names) for one in found)
    is_named = any(blame_text.is_named(one.report) for one in found)
    steps = [blame_text.file_facts(one) for one in found]
    return _Answer("file", {"steps": steps}, lines, is_named)


def _processes(session: SessionRecord, options: argparse.Namespace) -> _Answer:
    port = options.port
    if port is not None and not 0 < port <= MAX_PORT:
        raise MalformedArgument(str(port), f"a port from 1 to {MAX_PORT}")
    seen = graph(session.id)
    pids = [options.pid]
    if port is not None:
        pids = sorted({one.pid for one in seen.listeners if one.port == port})
    # One that was found without the keeper has no number yet.
    pid = session.pid or keeper.resolve(session.id, keeper.sessions()).pid
    found = blame_query.processes(session.id, pid, pids, seen)
    if not found and port is None:
        raise MalformedArgument(str(options.pid), f"a process of {session.label}")
    names = Names()
    lines: Iterator[str] = (blame_text.process_told(one, names) for one in found)
    if not found:
        lines = iter([f"nothing of {session.label} listens on port {port}"])
    is_named = any(
        one.process.actor or blame_text.is_named(one.report) for one in found
    )
    told = [blame_text.process_facts(one) for one in found]
    return _Answer("process", {"found": told}, lines, is_named)


def _line(session: SessionRecord) -> _Answer:
    report = blame(session.id, "line")
    lines = blame_text.line_told(report, Names())
    is_named = bool(report.by or report.others)
    return _Answer("line", blame_text.line_facts(report), lines, is_named)
