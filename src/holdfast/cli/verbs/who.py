"""`holdfast who`: show who is attached, who has the turn and who waits for what."""

import argparse

from holdfast.cli import presence_text
from holdfast.cli.operator_names import Names
from holdfast.cli.session_table import age
from holdfast.cli.table import table
from holdfast.cli.turn_requests import add_session_arguments, live_session
from holdfast.client.calls import request
from holdfast.model.envelopes import Right
from holdfast.model.errors import NotAllowed
from holdfast.model.text import printable
from holdfast.wire.presence import Presence, Present

TITLES = ("OPERATOR", "PROGRAM", "MODE", "SINCE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    session = live_session(options.session)
    done = request(session.id)
    if not done.presence.rights:
        raise NotAllowed(done.us, Right.OBSERVE.value)
    if options.json:
        presence_text.print_facts(session.id, done)
        return 0
    names = presence_text.names_of(done)
    if Right.OBSERVE in done.presence.rights:
        _print_present(done.presence.present, names)
    else:
        print("you may not see who is attached")
    for line in _standing(done.presence, names):
        print(line)
    return 0


def _print_present(present: tuple[Present, ...], names: Names) -> None:
    if not present:
        print("nobody is attached")
        return
    for line in table([TITLES, *(_row(one, names) for one in present)]):
        print(line)


def _row(one: Present, names: Names) -> tuple[str, ...]:
    who = names.shown(one.actor) + (", you" if one.actor == names.us else "")
    return (who, printable(one.program, 32), one.mode.value, age(one.for_ms / 1000))


def _standing(presence: Presence, names: Names) -> list[str]:
    lines = [presence_text.turn_told(presence, names)]
    if presence.waiting:
        waiting = ", ".join(map(names.you, presence.waiting))
        lines.append(f"waiting for it: {waiting}")
    if presence.frozen:
        lines.append("the session is frozen")
    if presence.pending:
        lines.append("waiting for approval:")
        for pending in presence.pending:
            lines += presence_text.pending_told(pending, names)
    return lines
