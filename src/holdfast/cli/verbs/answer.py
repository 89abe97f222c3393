"""`holdfast answer`: type a secret for a program that asks for one.

The secret is read from the terminal without echo, or as one line of piped input;
never from the command line, which every program of this user can read. It
travels as an answer, which the holder accepts only while a program waits and the
terminal does not echo, and of which no record keeps more than the length and a keyed
hash.
"""

import argparse
import getpass
import os
import sys

from holdfast.cli.one_input import add_shared_arguments, deliver_to
from holdfast.cli.turn_requests import live_session
from holdfast.client.calls import state
from holdfast.client.secret_input import MAX_SECRET, checked, demand_secrecy
from holdfast.model.errors import MalformedArgument
from holdfast.model.inputs import InputKind
from holdfast.model.text import printable
from holdfast.wire.evidence import Evidence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--key-by-key", action="store_true")
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("surplus", nargs="*", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Read the secret, and type it."""
    if options.surplus:
        # It is in the list of processes already; it need not be printed as well.
        raise MalformedArgument(
            "…", "accepted on the command line: pipe or type the secret"
        )
    session = live_session(options.session)
    seen = state(session.id)
    demand_secrecy(seen, key_by_key=options.key_by_key)
    secret = checked(read_secret(f"{session.label}: {asker_of(seen)}"))
    return deliver_to(session.id, options, InputKind.ANSWER, secret + b"\r")


def asker_of(seen: Evidence) -> str:
    """Say which program asks, for the person at the terminal."""
    return printable(seen.why[0]) if seen.why else "a program asks"


def read_secret(why: str) -> bytes:
    """Return a line typed without echo, or piped in.

    Raises:
        UsageError: There was none.

    """
    if sys.stdin is not None and sys.stdin.isatty():
        return os.fsencode(getpass.getpass(f"{why}\nanswer: ", sys.stderr))
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline(MAX_SECRET + 3)
    if not line:
        raise MalformedArgument("", "an answer: give one line on standard input")
    return line.removesuffix(b"\n").removesuffix(b"\r")
