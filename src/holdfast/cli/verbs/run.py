"""`holdfast run`: run a command in a session's shell, and return its exit status."""

import argparse
import json
import shlex
import sys
import time

from holdfast.cli.arguments import pattern_from
from holdfast.cli.one_input import add_approval_argument, say_held
from holdfast.cli.turn_requests import live_session
from holdfast.client import command_run
from holdfast.client.current_operator import ourselves
from holdfast.core.client.command_output import Ran
from holdfast.core.client.command_run import Wish
from holdfast.model.errors import InputIdReused, KeyUsed, MalformedArgument
from holdfast.model.inputs import shell_line
from holdfast.model.text import printable
from holdfast.term.plain import plain
from holdfast.term.printed import MAX_TEXT, hidden_in_output

MAX_OUTPUT = 64 * 1024
"""Bytes of output shown by default: as much as a person reads."""

FOREVER = 365 * 24 * 3600.0
"""Seconds to wait without --timeout."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("--timeout", metavar="S", type=float)
    add_approval_argument(parser)
    parser.add_argument("--key", metavar="KEY")
    parser.add_argument("--expect", metavar="PATTERN")
    parser.add_argument("--until-input", action="store_true")
    parser.add_argument("--max", metavar="BYTES", type=int, default=MAX_OUTPUT)
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", metavar="CMD", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Run the command, print its output, and return its status."""
    words = options.command
    line = shell_line(words[0] if len(words) == 1 else shlex.join(words))
    expected = None if options.expect is None else pattern_from(options.expect)
    _check(options)
    session = live_session(options.session).id
    timeout = FOREVER if options.timeout is None else max(0.0, options.timeout)
    begun_at = time.monotonic()
    approval = options.approval_timeout
    wish = Wish(options.max, expected, options.until_input, approval)
    client = command_run.client_of(session, ourselves().actor.id, options.key)
    # With --json, the error itself is the output.
    held = None if options.json else say_held
    try:
        ran = command_run.run(session, client, line, wish, begun_at + timeout, held)
    except InputIdReused:
        raise KeyUsed(printable(options.key or "", 64)) from None
    _show(options, session, ran)
    ran.demand_settled(round((time.monotonic() - begun_at) * 1000))
    return ran.command.status or 0


def _check(options: argparse.Namespace) -> None:
    if options.max < 1:
        raise MalformedArgument(str(options.max), "a number of bytes, 1 or more")
    command_run.check_key(options.key)


def _show(options: argparse.Namespace, session: str, ran: Ran) -> None:
    command = ran.command
    if options.json:
        facts: dict[str, object] = {
            "session": session,
            "number": command.number,
            "line": command.line,
            "ended": command.end is not None,
            "stopped": ran.stop.value,
            "state": ran.state or None,
            "exit": command.status,
            "duration_ms": command.duration_ms,
            "cwd": command.cwd,
            "start": command.start,
            "end": command.end,
            "truncated": ran.left_out,
            "output": _text(options, ran.output),
            "hidden": [one._asdict() for one in hidden_in_output(ran.output)],
        }
        print(json.dumps(facts), flush=True)
        return
    if ran.left_out:
        print(f"holdfast: {ran.left_out} earlier bytes are left out", file=sys.stderr)
    if options.raw and sys.stdout is not None:
        sys.stdout.buffer.write(ran.output)
    else:
        print(plain(ran.output), end="")
        _warn(ran.output)


def _warn(output: bytes) -> None:
    """Report text in the output that a terminal would not show."""
    for one in hidden_in_output(output):
        told = f"{one.reason}: {printable(one.text, MAX_TEXT)}"
        print(f"holdfast: hidden on a terminal: {told}", file=sys.stderr)


def _text(options: argparse.Namespace, output: bytes) -> str:
    return output.decode("utf-8", "replace") if options.raw else plain(output)
