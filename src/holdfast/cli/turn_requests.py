"""Shared by the verbs about the turn: one request, and the state after it."""

import argparse
from collections.abc import Callable

from holdfast.cli.operator_names import actor_from
from holdfast.cli.presence_text import inherited_told, names_of, print_facts, turn_told
from holdfast.client import keeper
from holdfast.client.calls import act, request
from holdfast.core.client.questions import Done
from holdfast.model.errors import SessionOver
from holdfast.model.ids import ActorId
from holdfast.model.session_record import SessionRecord
from holdfast.wire.codec import Message


def add_session_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options they share."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("session", metavar="NAME")


def add_operator_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a request about another operator."""
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR")


def live_session(text: str) -> SessionRecord:
    """Return the session that is meant, which must not have ended.

    Raises:
        UsageError: There is none, or it has ended.
        Unavailable: There is no keeper, or it does not answer.

    """
    session = keeper.find(text)
    if session.exit is not None:
        raise SessionOver("exited")
    return session


def do_about_turn(options: argparse.Namespace, asked: Message) -> int:
    """Send a request about the turn, and print the state after it."""
    session = live_session(options.session)
    return report(options, session, act(session.id, asked))


def do_with_operator(
    options: argparse.Namespace, asked: Callable[[ActorId], Message]
) -> int:
    """Send a request about the turn and another operator, and print the state."""
    session = live_session(options.session)
    other = actor_from(options.operator, session.id)
    return report(options, session, act(session.id, asked(other)))


def do_request(options: argparse.Namespace, asked: Message) -> int:
    """Send any other request, and print the state after it."""
    session = live_session(options.session)
    return report(options, session, request(session.id, asked))


def report(options: argparse.Namespace, session: SessionRecord, done: Done) -> int:
    """Print the state after a request."""
    if options.json:
        print_facts(session.id, done)
        return 0
    names = names_of(done)
    frozen = ", frozen" if done.presence.frozen else ""
    print(f"{session.label}{frozen}: {turn_told(done.presence, names)}")
    if done.inherited is not None:
        print(f"  with it comes: {inherited_told(done.inherited, names)}")
    return 0
