"""`holdfast move`: have a session go on at another host."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from holdfast.core.capsule.move_order import Step

if TYPE_CHECKING:
    from holdfast.client.departure import Moved

SHOWN = {
    Step.CHECK: "asking both hosts what is in the way",
    Step.STOP: "putting the session to disk",
    Step.SEND: "sending it",
    Step.COMMIT: "having it go on there",
    Step.RECLAIM: "bringing it back here",
}
_CLEAR = "\r\x1b[K"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("host", metavar="HOST")
    parser.add_argument("--timeout", metavar="S", type=float, default=60.0)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Move it, or finish a move that was begun."""
    from holdfast.client import hosts  # noqa: PLC0415  # after the words
    from holdfast.client.departure import depart  # noqa: PLC0415  # ditto
    from holdfast.client.departures import begun, first_note  # noqa: PLC0415  # ditto
    from holdfast.client.keeper import find  # noqa: PLC0415  # ditto
    from holdfast.model.errors import OnlyHere  # noqa: PLC0415  # ditto

    to = hosts.by_name(options.host.removeprefix("@"))
    show = _shown if sys.stderr.isatty() and not options.json else _silent
    note = begun(options.session, to)
    if note is None:
        session = find(options.session)
        if session.host:
            raise OnlyHere("moving a session")
        note = first_note(session, to)
    try:
        moved = depart(note, show, options.timeout)
    finally:
        if show is _shown:
            sys.stderr.write(_CLEAR)
    print(_told(moved) if not options.json else json.dumps(moved._asdict()))
    return 0


def _told(moved: "Moved") -> str:
    size, silent = moved.size / 1_000_000, moved.silent_ms / 1000
    said = f"{moved.name} goes on at {moved.host} (incarnation {moved.incarnation})"
    return f"{said}; {size:.1f} MB were sent, and it stood still for {silent:.2f} s."


def _silent(_step: Step, _done: int, _all: int) -> None:
    pass


def _shown(step: Step, done: int, whole: int) -> None:
    said = SHOWN.get(step)
    if said is None:
        return
    of = f": {done / 1e6:.1f} of {whole / 1e6:.1f} MB" if step is Step.SEND else ""
    sys.stderr.write(f"{_CLEAR}{said}{of}")
    sys.stderr.flush()
