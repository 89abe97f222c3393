"""`holdfast run`: run a command in a session's shell, and return its exit status."""

import argparse
import contextlib
import json
import os
import re
import shlex
import sys
import time

from holdfast.cli.manual import describe
from holdfast.cli.requesting import live_session
from holdfast.client.commands import Ran, Running, client_of
from holdfast.client.requests import act, presence
from holdfast.model.errors import HoldfastError, MalformedArgument, OutcomeUnknown
from holdfast.model.text import printable
from holdfast.term.plain import plain
from holdfast.wire.messages import Drop

MAX_OUTPUT = 64 * 1024
"""Bytes of output that are shown unless asked otherwise: what a reader can take."""

MAX_KEY = 256
"""Characters of a key."""

FOREVER = 365 * 24 * 3600.0
"""Seconds that are waited without --timeout."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Type a command at the prompt of a session's shell, as one input, wait for"
        " its end, print what it printed, and exit with its status. One word is a line"
        " for the shell; several words are quoted, so that each stays one. The shell"
        " must have been started by `new` with its integration, and be at its prompt."
        " The same --key never runs twice: whoever repeats it is told what came of the"
        " first, or waits for it.",
        {
            "holdfast run web -- make test": "three words, each as it is",
            "holdfast run web 'cd src && make | tail -3'": "a line for the shell",
            "holdfast run web --key deploy-7 --json ./deploy": "once, whatever dies",
            "holdfast run web --expect 'listening on' npm start": "do not wait longer",
        },
        {
            "N": "the command's own status",
            64: "the session has ended, or its program is no shell that we know",
            75: "not at the prompt, or it did not end in time, or how is not known",
            77: "somebody else has the turn, or it is not allowed",
        },
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument(
        "--timeout", metavar="S", type=float, help="seconds to wait at most (for ever)"
    )
    parser.add_argument("--key", metavar="KEY", help="what makes a repeat the same")
    parser.add_argument(
        "--expect",
        metavar="PATTERN",
        help="also be done when it has printed this; a regular expression over bytes",
    )
    parser.add_argument(
        "--max",
        metavar="BYTES",
        type=int,
        default=MAX_OUTPUT,
        help=f"show the last so many bytes of its output ({MAX_OUTPUT})",
    )
    parser.add_argument("--raw", action="store_true", help="keep escape sequences")
    parser.add_argument("--json", action="store_true", help="print facts for programs")
    parser.add_argument("command", metavar="CMD", nargs="+", help="what to run")


def run(options: argparse.Namespace) -> int:
    """Run it, print its output, and return its status."""
    line, expected = _line(options.command), _pattern(options.expect)
    if options.max < 1:
        raise MalformedArgument(str(options.max), "a number of bytes, 1 or more")
    if options.key is not None and not 0 < len(options.key) <= MAX_KEY:
        raise MalformedArgument(
            printable(options.key, 64), f"a key of 1 to {MAX_KEY} characters"
        )
    session = live_session(options.session).id
    timeout = FOREVER if options.timeout is None else max(0.0, options.timeout)
    client = client_of(session, options.key)
    running = Running(session, client, time.monotonic() + timeout)
    # Whoever had no turn before has none after: the next one may be another's.
    was_free = not presence(session).holder
    try:
        ran = running.wait(running.type(line), options.max, expected)
    finally:
        if was_free:
            with contextlib.suppress(HoldfastError):
                act(session, Drop())
    _show(options, session, ran)
    if ran.command.end is not None and ran.command.status is None and not options.json:
        raise OutcomeUnknown(client, 1)
    return ran.command.status or 0


def _show(options: argparse.Namespace, session: str, ran: Ran) -> None:
    command = ran.command
    if options.json:
        facts: dict[str, object] = {
            "session": session,
            "number": command.number,
            "line": command.line,
            "ended": command.end is not None,
            "exit": command.status,
            "duration_ms": command.duration_ms,
            "cwd": command.cwd,
            "start": command.start,
            "end": command.end,
            "truncated": ran.left_out,
            "output": _text(options, ran.output),
        }
        print(json.dumps(facts))
        return
    if ran.left_out:
        print(
            f"holdfast: {ran.left_out} bytes before this are left out", file=sys.stderr
        )
    if options.raw and sys.stdout is not None:
        sys.stdout.buffer.write(ran.output)
    else:
        print(plain(ran.output), end="")


def _text(options: argparse.Namespace, output: bytes) -> str:
    return output.decode("utf-8", "replace") if options.raw else plain(output)


def _line(words: list[str]) -> bytes:
    text = words[0] if len(words) == 1 else shlex.join(words)
    # A newline would make it several commands, a tab would be completed, and any
    # other control character be a key.
    if not text.strip() or re.search(r"[\x00-\x1f\x7f]", text):
        raise MalformedArgument(
            printable(text, 64),
            "one line for a shell: no newline, tab or other control character",
        )
    return os.fsencode(text)


def _pattern(what: str | None) -> re.Pattern[bytes] | None:
    try:
        return None if what is None else re.compile(os.fsencode(what))
    except re.error as error:
        raise MalformedArgument(
            printable(str(what), 64), f"a pattern: {printable(str(error))}"
        ) from None
