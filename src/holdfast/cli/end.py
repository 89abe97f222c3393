"""`holdfast end`: end a session."""

import argparse
import time

from holdfast.cli.arguments import signal_from
from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.model.errors import SessionUnreachable, WaitedInVain

PATIENCE = 15.0
"""Seconds until the end must have come: a holder kills everything after five."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Ask a session's command to end with a signal, and wait until it has. What"
        " does not listen is killed after a few seconds; of a session that has"
        " ended already, the record is removed.",
        {
            "holdfast end web": "hang up, as a closed terminal would",
            "holdfast end web --signal INT": "as Ctrl-C would",
        },
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument(
        "--signal", metavar="S", default="HUP", help="TERM, SIGTERM or 15 (HUP)"
    )


def run(options: argparse.Namespace) -> int:
    """End it, wait for the end, and have its record dropped."""
    number = signal_from(options.signal)
    session = keeper.find(options.session)
    if session.exit is None:
        _end(session, number)
    keeper.request("forget", {"id": session.id}, host=session.host)
    print(f"{session.label} has ended")
    return 0


def _end(session: keeper.Listed, number: int) -> None:
    from holdfast.client.attaching import (  # noqa: PLC0415  # not for a dead one
        attach,
        attachment_to,
        messages,
    )
    from holdfast.wire.codec import error_from  # noqa: PLC0415
    from holdfast.wire.frames import FrameKind  # noqa: PLC0415
    from holdfast.wire.messages import End, Exited, Refuse  # noqa: PLC0415

    deadline = time.monotonic() + PATIENCE
    attachment = attachment_to(session.id)
    while time.monotonic() < deadline:
        try:
            link, _ = attach(attachment)
            with link:
                link.send(End(number))
                for message in messages(link, deadline):
                    match message:
                        case Exited():
                            return
                        case Refuse(refused=FrameKind.END):
                            raise error_from(message)
                        case _:
                            pass
        except SessionUnreachable:
            if _is_over(session):
                return
    raise WaitedInVain(f"the end of {session.label}", int(PATIENCE * 1000))


def _is_over(session: keeper.Listed) -> bool:
    return all(
        known.id != session.id or known.exit is not None
        for known in keeper.sessions(host=session.host)
    )
