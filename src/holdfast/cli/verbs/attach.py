"""`holdfast attach`: show a session on this terminal."""

import argparse
import os
import sys

from holdfast.client import early_session, keeper, session_location
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.errors import DetachedBy, SessionIsLost, SessionNotNamed
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
    except DetachedBy as error:
        again = f"`holdfast attach {session.label}` reattaches"
        print(f"[holdfast] {printable(str(error))}; {again}")
        return 0


def _found(text: str) -> SessionRecord:
    """Return the session that is meant; one that was lost, if it is wanted back."""
    try:
        return keeper.find(text)
    except SessionIsLost as error:
        if not _is_wanted_back(error):
            raise
    from holdfast.cli.terminal import demand_terminal  # noqa: PLC0415  # rarely needed
    from holdfast.cli.verbs.recover import begin  # noqa: PLC0415  # ditto
    from holdfast.client.lost_sessions import find_lost  # noqa: PLC0415  # ditto

    demand_terminal()  # Before anything is started.
    return keeper.find(begin(find_lost(text), None, timeout=APPROVAL, attaches=True))


def _is_wanted_back(error: SessionIsLost) -> bool:
    """Tell whether to start a lost session again: by the settings, or by a person."""
    from holdfast.linux.stored import config  # noqa: PLC0415  # rarely needed

    if config.mentions(b"recover") and config.settings().recovers:
        return True
    if not (os.isatty(0) and os.isatty(1)):
        return False
    lost, ago = error.facts["session"], error.facts["ago"]
    print(f"{lost} was lost {ago} ago. Start it again? y/N: ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _only(known: list[SessionRecord]) -> SessionRecord:
    if len(known) == 1:
        return known[0]
    if not known:
        raise SessionNotNamed(0)
    for number, session in enumerate(known, start=1):
        command = printable(" ".join(session.command), 60)
        print(f"{number:>3}  {session.label}  {session.id}  {command}")
    if not (os.isatty(0) and os.isatty(1)):
        raise SessionNotNamed(len(known))
    return _picked(known)


def _picked(known: list[SessionRecord]) -> SessionRecord:
    while True:
        print(f"Which one? 1 to {len(known)}: ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            raise SessionNotNamed(len(known))
        text = line.strip()
        if text.isdecimal() and 1 <= int(text) <= len(known):
            return known[int(text) - 1]
