"""`holdfast answer`: type a secret for a program that asks for one.

The secret is read from the terminal without echo, or as one line of piped input;
never from the command line, which every program of this user can read. It
travels as an answer, which the holder accepts only while a program waits and the
terminal does not echo, and of which no record keeps more than the length and a keyed
hash.
"""

import argparse
import getpass
import json
import os
import sys

from holdfast.cli.manual import describe
from holdfast.cli.one_input import add_shared_arguments, say_held
from holdfast.cli.turn_requests import live_session
from holdfast.client.calls import state, submit
from holdfast.client.driver import attachment_to
from holdfast.client.secret_input import MAX_SECRET, checked, demand_secrecy
from holdfast.model.errors import MalformedArgument
from holdfast.model.inputs import InputKind
from holdfast.model.text import printable
from holdfast.wire.evidence import Evidence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Type a secret and Enter into a session whose program asks for one: sudo, ssh,"
        " `read -s`, getpass. It is read from this terminal without echo, or is the"
        " first line of what is piped in. Nothing keeps it: not the logbook, not the"
        " session's output, and whoever approves it does not see it. It is refused"
        " when nobody asks, or when it would be shown; what may be seen is for `send`.",
        {
            "holdfast answer web": "asks you, and shows nothing",
            "pass show deploy | holdfast answer web": "from a program",
            "holdfast wait web --for secret && holdfast answer web": "once it is asked",
        },
        {
            64: "the session has ended, or there is none, or nothing was given",
            75: "nobody waits for a secret now, or it would be shown",
            77: "somebody else has the turn, or it is not allowed",
        },
    )
    parser.add_argument(
        "--key-by-key",
        action="store_true",
        help="also for a program that reads single keys and shows dots, or nothing",
    )
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument("surplus", nargs="*", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Read the secret, and type it."""
    if options.surplus:
        # It is in the list of processes already; it need not be printed as well.
        raise MalformedArgument("…", "for the command line: secrets are piped or typed")
    session = live_session(options.session)
    seen = state(session.id)
    demand_secrecy(seen, key_by_key=options.key_by_key)
    secret = checked(read_secret(f"{session.label}: {asker_of(seen)}"))
    attachment = attachment_to(session.id)
    if not options.json:
        attachment.held = say_held
    offset = submit(
        attachment,
        InputKind.ANSWER,
        secret + b"\r",
        options.timeout,
        options.approval_timeout,
    )
    if options.json:
        print(json.dumps({"session": session.id, "offset": offset}))
    return 0


def asker_of(seen: Evidence) -> str:
    """Say who asks, for the person who is asked."""
    return printable(seen.why[0]) if seen.why else "somebody asks"


def read_secret(why: str) -> bytes:
    """Return a line that was typed without echo, or piped in.

    Raises:
        UsageError: There was none.

    """
    if sys.stdin is not None and sys.stdin.isatty():
        return os.fsencode(getpass.getpass(f"{why}\nanswer: ", sys.stderr))
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline(MAX_SECRET + 3)
    if not line:
        raise MalformedArgument("", "an answer: give one line on standard input")
    return line.removesuffix(b"\n").removesuffix(b"\r")
