"""`holdfast end`: end a session."""

import argparse
import time
from collections.abc import Mapping

from holdfast.cli.arguments import signal_from
from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.model.errors import SessionUnreachable, WaitedInVain
from holdfast.model.events import EventName
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Forget
from holdfast.model.text import printable

PATIENCE = 20.0
"""Seconds until the end must have come: a holder kills the command after five, and
what has left it two later."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Ask a session's command to end with a signal, and wait until it has. What"
        " does not listen is killed after a few seconds. Daemons that the session"
        " has started are ended too, also those of a session whose command has"
        " ended already; sessions that were started from inside it are not. Then"
        " its record is removed.",
        {
            "holdfast end web": "hang up, as a closed terminal would",
            "holdfast end web --signal INT": "as Ctrl-C would",
            "holdfast end web --leave-daemons": "what left the shell goes on",
        },
    )
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument(
        "--signal", metavar="S", default="HUP", help="TERM, SIGTERM or 15 (HUP)"
    )
    parser.add_argument(
        "--leave-daemons",
        action="store_true",
        help="leave running what has left the session's shell",
    )


def run(options: argparse.Namespace) -> int:
    """End it, wait for the end, and have its record dropped."""
    number = signal_from(options.signal)
    session = keeper.find(options.session)
    leave = options.leave_daemons
    if session.exit is not None or not _end(session, number, leave=leave):
        _end_rest(session, number, leave=leave)
    keeper.request(Forget(session.id), host=session.host)
    print(f"{session.label} has ended")
    return 0


def _end_rest(session: SessionRecord, number: int, *, leave: bool) -> None:
    """End what a session has left whose command has ended already."""
    from holdfast.client.attached_link import messages  # noqa: PLC0415  # rarely needed
    from holdfast.client.connection import Connection  # noqa: PLC0415
    from holdfast.wire.codec import error_from  # noqa: PLC0415
    from holdfast.wire.frames import FrameKind  # noqa: PLC0415
    from holdfast.wire.messages import End, Event, Exited, Refuse  # noqa: PLC0415

    try:
        with Connection.open(SessionId(session.id)) as link:
            link.send(End(number, leave))
            for message in messages(link, time.monotonic() + PATIENCE):
                match message:
                    case Exited():
                        return
                    case Event(EventName.SESSION_SWEPT):
                        _say_swept(message.fields)
                    case Refuse(refused=FrameKind.END):
                        raise error_from(message)
                    case _:
                        pass
    except SessionUnreachable:
        print("what the session left running could not be looked for")


def _say_swept(fields: Mapping[str, object]) -> None:
    names = printable(str(fields.get("names") or ""))
    for key, word in (("leftovers", "ended"), ("left", "left running")):
        count = fields.get(key) or 0
        if count:
            which = "daemon" if count == 1 else "daemons"
            print(f"{count} {which} {word}: {names}")


def _end(session: SessionRecord, number: int, *, leave: bool) -> bool:
    """End a session; False if whoever was to sweep for it may have died before."""
    from holdfast.client.attached_link import attach, messages  # noqa: PLC0415
    from holdfast.client.driver import attachment_to  # noqa: PLC0415
    from holdfast.wire.codec import error_from  # noqa: PLC0415
    from holdfast.wire.frames import FrameKind  # noqa: PLC0415
    from holdfast.wire.messages import End, Event, Exited, Refuse  # noqa: PLC0415

    deadline = time.monotonic() + PATIENCE
    attachment = attachment_to(session.id)
    is_whole = True
    while time.monotonic() < deadline:
        try:
            link, _ = attach(attachment)
            with link:
                link.send(End(number, leave))
                for message in messages(link, deadline):
                    match message:
                        case Exited():
                            return is_whole
                        case Event(EventName.SESSION_SWEPT):
                            _say_swept(message.fields)
                        case Refuse(refused=FrameKind.END):
                            raise error_from(message)
                        case _:
                            pass
        except SessionUnreachable:
            is_whole = False
            if _is_over(session):
                return False
    raise WaitedInVain(f"the end of {session.label}", int(PATIENCE * 1000))


def _is_over(session: SessionRecord) -> bool:
    return all(
        known.id != session.id or known.exit is not None
        for known in keeper.sessions(host=session.host)
    )
