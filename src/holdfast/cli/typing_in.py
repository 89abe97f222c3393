"""What `send`, `keys` and `resize` share: one input, and its answer."""

import argparse
import json

from holdfast.client import keeper
from holdfast.client.attaching import attachment_to, submit
from holdfast.model.errors import SessionOver
from holdfast.model.inputs import InputKind


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that all of them have."""
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        default=10.0,
        help="seconds to wait for a program that does not read (10)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the offset from which on the stream shows what came of it",
    )


def deliver(options: argparse.Namespace, kind: InputKind, payload: bytes) -> int:
    """Make the input, and return when the terminal has taken it."""
    session = keeper.find(options.session)
    if session.exit is not None:
        raise SessionOver("exited")
    offset = submit(attachment_to(session.id), kind, payload, options.timeout)
    if options.json:
        print(json.dumps({"session": session.id, "offset": offset}))
    return 0
