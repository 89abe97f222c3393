"""`holdfast read`: print what a session has printed."""

import argparse
import base64
import json
import sys
import time
from dataclasses import dataclass

from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.client.attaching import attach, attachment_to, messages
from holdfast.client.attachment import Attachment
from holdfast.client.connection import Connection
from holdfast.model.errors import MalformedArgument, NegativeOffset, SessionUnreachable
from holdfast.model.ids import FIRST_INCARNATION
from holdfast.term.plain import plain
from holdfast.term.printed import hidden_in_output
from holdfast.wire.messages import Attached, Keyframe, Mode, Output

PATIENCE = 10.0
"""Seconds in which a holder sends what it has already."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the stream: `gap` bytes before `offset` are gone."""

    incarnation: int
    offset: int
    gap: int
    content: bytes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Print what a session has printed so far, as far as it is kept, and exit."
        " Bytes are counted from the session's birth, so that reading can go on"
        " where it stopped: --json says where that is, and how many bytes are gone.",
        {
            "holdfast read web": "all that is kept, as it was printed",
            "holdfast read web --from 4096 --max 1000": "a part of it",
            "holdfast read web --json": "offset, next, gap, data, text, hidden",
        },
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument(
        "--from", dest="start", metavar="OFFSET", type=int, help="go on at this byte"
    )
    parser.add_argument("--max", metavar="BYTES", type=int, help="at most so many")
    parser.add_argument("--json", action="store_true", help="print facts for programs")


def run(options: argparse.Namespace) -> int:
    """Read it, and print it."""
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
    link, attached = attach_after(attachment, start)
    with link:
        return _gather(attachment, link, attached, start, limit)


def attach_after(
    attachment: Attachment, start: int | None
) -> tuple[Connection, Attached]:
    """Attach so that the stream comes from `start` on, or all of it.

    An offset belongs to a life of the session. We are not told which one the
    user means, and take it for the present one.
    """
    attachment.offset, attachment.incarnation = start, FIRST_INCARNATION
    link, attached = attach(attachment)
    if start is not None and attached.incarnation != FIRST_INCARNATION:
        link.close()
        attachment.offset = start
        link, attached = attach(attachment)
    return link, attached


def _gather(
    attachment: Attachment,
    link: Connection,
    attached: Attached,
    start: int | None,
    limit: int | None,
) -> Piece:
    first: int | None = None
    content = bytearray()
    room = limit if limit is not None else attached.end
    deadline = time.monotonic() + PATIENCE
    is_complete = (attached.start if start is None else start) >= attached.end
    while not is_complete:
        message = next(messages(link, deadline), None)
        if message is None:
            raise SessionUnreachable(attachment.session, "it does not send its stream")
        printed = attachment.heard(message)
        if isinstance(message, Output) and printed:
            end = message.offset + len(message.data)
            first = end - len(printed) if first is None else first
            content += printed
        elif isinstance(message, Keyframe):
            continue  # A picture of the stream, and not the stream.
        seen = attachment.offset or 0
        is_complete = len(content) >= room or seen >= attached.end
    begin = attached.end if first is None else first
    return Piece(
        attached.incarnation,
        begin,
        0 if start is None else max(0, begin - start),
        bytes(content[:room]),
    )


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
