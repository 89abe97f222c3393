"""`holdfast attach`: show a session on this terminal."""

import argparse
import os
import sys

from holdfast.client import early_session, keeper, session_location
from holdfast.model import errors
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME", nargs="?")
    parser.add_argument("--observe", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Find the session, and show it."""
    if options.session is not None and not early_session.begun_as(options.session):
        # A host elsewhere is being reached while the rest is loaded.
        session_location.expect_far(options.session)
    from holdfast.cli.attached import show  # noqa: PLC0415  # after the words are checked

    if options.session is not None:
        session = _found(options.session)
    else:
        session = _only([one for one in keeper.sessions() if one.exit is None])
    try:
        return show(session, observe=options.observe)
    except errors.DetachedBy as error:
        again = f"`holdfast attach {session.label}` reattaches"
        print(f"[holdfast] {printable(str(error))}; {again}")
        return 0


def _found(text: str) -> SessionRecord:
    """Return the session that is meant; one that is gone, if it is wanted back."""
    try:
        return keeper.find(text)
    except (errors.SessionIsLost, errors.SessionStopped):
        from holdfast.cli.recovery_prompt import come_back  # noqa: PLC0415  # rarely needed

        back = come_back(text)
        if back is None:
            raise
        return back


def _only(known: list[SessionRecord]) -> SessionRecord:
    if len(known) == 1:
        return known[0]
    if not known:
        raise errors.SessionNotNamed(0)
    for number, session in enumerate(known, start=1):
        command = printable(" ".join(session.command), 60)
        print(f"{number:>3}  {session.label}  {session.id}  {command}")
    if not (os.isatty(0) and os.isatty(1)):
        raise errors.SessionNotNamed(len(known))
    return _picked(known)


def _picked(known: list[SessionRecord]) -> SessionRecord:
    while True:
        print(f"Which one? 1 to {len(known)}: ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            raise errors.SessionNotNamed(len(known))
        text = line.strip()
        if text.isdecimal() and 1 <= int(text) <= len(known):
            return known[int(text) - 1]
