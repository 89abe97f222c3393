"""`holdfast read`: print what a session has printed."""

import argparse
import base64
import json
import sys
import time

from holdfast.client import keeper
from holdfast.client.driver import attachment_to, converse
from holdfast.core.client.stream_wait import Piece, Reading
from holdfast.model.errors import MalformedArgument, NegativeOffset
from holdfast.term.plain import plain
from holdfast.term.printed import hidden_in_output
from holdfast.wire.messages import Mode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("--from", dest="start", metavar="OFFSET", type=int)
    parser.add_argument("--max", metavar="BYTES", type=int)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Read the output, and print it."""
    if options.start is not None and options.start < 0:
        raise NegativeOffset(options.start)
    if options.max is not None and options.max < 1:
        raise MalformedArgument(str(options.max), "a number of bytes, 1 or more")
    session = keeper.find(options.session)
    piece = read(session.id, options.start, options.max)
    if options.json:
        print(json.dumps({"session": session.id, **_facts(piece)}))
    elif sys.stdout is not None:
        sys.stdout.buffer.write(piece.content)
    return 0


def read(session: str, start: int | None, limit: int | None) -> Piece:
    """Return what `session` has printed from `start` on.

    Raises:
        HoldfastError: It cannot be read, and why.

    """
    attachment = attachment_to(session, Mode.OBSERVE)
    return converse(session, Reading(attachment, start, limit, time.monotonic()))


def _facts(piece: Piece) -> dict[str, object]:
    return {
        "incarnation": piece.incarnation,
        "offset": piece.offset,
        "gap": piece.gap,
        "next": piece.offset + len(piece.content),
        "data": base64.b64encode(piece.content).decode(),
        "text": plain(piece.content),
        "hidden": [one._asdict() for one in hidden_in_output(piece.content)],
    }
