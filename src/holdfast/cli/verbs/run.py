"""`holdfast run`: run a command in a session's shell, and return its exit status."""

import argparse
import json
import shlex
import sys
import time

from holdfast.cli.arguments import pattern_from
from holdfast.cli.one_input import add_approval_argument, say_held
from holdfast.cli.streamed_output import Streamed
from holdfast.cli.turn_requests import live_session
from holdfast.client import command_run
from holdfast.client.current_operator import ourselves
from holdfast.core.client.command_output import Ran, Stop
from holdfast.core.client.command_run import Wish
from holdfast.model import errors
from holdfast.model.ids import ClientId
from holdfast.model.inputs import shell_line
from holdfast.model.text import printable
from holdfast.term.plain_stream import last_states
from holdfast.term.printed import MAX_TEXT, hidden_in_output

MAX_OUTPUT = 64 * 1024
"""Bytes of output in a JSON object: as much as a person reads."""

HEAD = 4
"""Of those, one part in so many is how the output began."""

SAID = {
    Stop.PROMPTED: "no marks: the next prompt marks the end, and there is no status",
    Stop.ASKED: "it waits for input; `holdfast screen` shows its screen",
    Stop.LEFT: "another program has the terminal now; there is no status",
}
"""Notes on the end of a line in an interpreter."""

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
    parser.add_argument("--max", metavar="BYTES", type=int)
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--preview", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", metavar="CMD", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Run the command, print its output, and return its status."""
    words = options.command
    line = shell_line(words[0] if len(words) == 1 else shlex.join(words))
    expected = None if options.expect is None else pattern_from(options.expect)
    _check(options)
    if options.preview:
        from holdfast.cli.preview_run import preview  # noqa: PLC0415  # rarely needed

        return preview(options, line)
    session = live_session(options.session).id
    timeout = FOREVER if options.timeout is None else max(0.0, options.timeout)
    begun_at = time.monotonic()
    approval = options.approval_timeout
    limit = MAX_OUTPUT if options.max is None else options.max
    head = limit // HEAD if options.json else 0
    wish = Wish(limit, expected, options.until_input, approval, head)
    asked = session, _client(session, options.key), line, wish, begun_at + timeout
    boundaries = "marks"
    try:
        ran = _ran(options, *asked)
    except errors.InputIdReused:
        raise errors.KeyUsed(printable(options.key or "", 64)) from None
    except (errors.NoMarks, errors.NotAtPrompt) as error:
        if options.key is not None or options.expect is not None:
            raise  # Without marks nobody knows what came of an earlier one.
        boundaries = "prompt"
        ran = _ran_in_interpreter(
            options, session, line, wish, error, begun_at + timeout
        )
    _show(options, session, ran, boundaries)
    ran.demand_settled(round((time.monotonic() - begun_at) * 1000))
    return ran.command.status or 0


def _client(session: str, key: str | None) -> ClientId | None:
    """Return who runs it; None for a client that has run nothing yet."""
    if key is None:
        return None
    return command_run.client_of(session, ourselves().actor.id, key)


def _ran(
    options: argparse.Namespace,
    session: str,
    client: ClientId | None,
    line: bytes,
    wish: Wish,
    deadline: float,
) -> Ran:
    """Run it; what it prints is shown as it comes, unless it is asked for at once."""
    if options.json:  # The error itself is the output then.
        return command_run.run(session, client, line, wish, deadline)
    if options.max is not None:
        return command_run.run(session, client, line, wish, deadline, say_held)
    with Streamed(is_raw=options.raw) as shown:
        return command_run.run(
            session, client, line, wish, deadline, say_held, printed=shown.printed
        )


def _ran_in_interpreter(
    options: argparse.Namespace,
    session: str,
    line: bytes,
    wish: Wish,
    refused: errors.HoldfastError,
    deadline: float,
) -> Ran:
    """Run it in an interpreter, if that is what has the terminal."""
    asked = session, line, wish, refused, deadline
    if options.json or options.max is not None:
        return command_run.run_in_interpreter(*asked)
    with Streamed(is_raw=options.raw) as shown:
        ran = command_run.run_in_interpreter(*asked, shown.printed)
    print(f"holdfast: {SAID[ran.stop]}", file=sys.stderr)
    return ran


def _check(options: argparse.Namespace) -> None:
    if options.max is not None and options.max < 1:
        raise errors.MalformedArgument(str(options.max), "a number of bytes, 1 or more")
    if options.keep and not options.preview:
        raise errors.MalformedArgument("--keep", "used with --preview")
    odd = (options.key, options.expect, options.max)
    if options.preview and (odd != (None,) * 3 or options.until_input or options.raw):
        raise errors.MalformedArgument(
            "--preview", "used with --timeout, --keep and --json"
        )
    command_run.check_key(options.key)


def _show(options: argparse.Namespace, session: str, ran: Ran, boundaries: str) -> None:
    command = ran.command
    if options.json:
        facts: dict[str, object] = {
            "session": session,
            "number": command.number,
            "line": command.line,
            "ended": command.end is not None,
            "stopped": ran.stop.value,
            "boundaries": boundaries,
            "state": ran.state or None,
            "exit": command.status,
            "duration_ms": command.duration_ms,
            "cwd": command.cwd,
            "start": command.start,
            "end": command.end,
            "truncated": ran.omitted,
            "head": _text(options, ran.head),
            "output": _text(options, ran.output),
            "hidden": [one._asdict() for one in hidden_in_output(ran.output)],
        }
        print(json.dumps(facts), flush=True)
        return
    if options.max is not None:
        _show_last(options, ran)
    elif ran.lost:
        lost = f"{ran.lost} bytes were gone before they could be read"
        print(f"holdfast: {lost}", file=sys.stderr)
    if not options.raw:
        _warn(ran.output)


def _show_last(options: argparse.Namespace, ran: Ran) -> None:
    """Print the last bytes, if no more are wanted."""
    if ran.left_out:
        print(f"holdfast: {ran.left_out} earlier bytes are left out", file=sys.stderr)
    if options.raw and sys.stdout is not None:
        sys.stdout.buffer.write(ran.output)
    else:
        print(last_states(ran.output), end="")


def _warn(output: bytes) -> None:
    """Report text in the output that a terminal would not show."""
    for one in hidden_in_output(output):
        told = f"{one.reason}: {printable(one.text, MAX_TEXT)}"
        print(f"holdfast: hidden on a terminal: {told}", file=sys.stderr)


def _text(options: argparse.Namespace, output: bytes) -> str:
    return output.decode("utf-8", "replace") if options.raw else last_states(output)
