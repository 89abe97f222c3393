"""Shows what waits for approval, and sends the decision.

An operator who approves sees exactly what is approved: every byte that was received,
with control characters made visible, who asks, by which rule, and how many bytes are
not shown. The answer is bound to that digest and turn epoch, so it cannot come to mean
something else in between.
"""

import argparse
import json
import sys

from holdfast.cli.confirmation import confirmed
from holdfast.cli.presence_text import names_of, pending_facts, pending_told
from holdfast.cli.turn_requests import live_session
from holdfast.client import keeper
from holdfast.client.calls import request
from holdfast.core.client.questions import Done
from holdfast.model import errors
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable
from holdfast.wire.messages import MAX_NUMBER, Approve, Deny, Pending

EXIT_LEFT = 1
"""The user was asked, and did not confirm."""


def add_answer_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how an answer is given, for `gate` too."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--yes", action="store_true")


def add_ticket_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `approve` and `deny`."""
    add_answer_arguments(parser)
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("ticket", metavar="TICKET", nargs="?")


def print_pending(name: str | None, *, as_json: bool) -> int:
    """Print what waits in one session, or in all of them."""
    sessions = (
        [one for one in keeper.sessions() if one.exit is None]
        if name is None
        else [live_session(name)]
    )
    found: list[tuple[SessionRecord, Done]] = []
    for session in sessions:
        try:
            found.append((session, request(session.id)))
        except errors.HoldfastError as error:
            if name is not None:
                raise
            said = printable(f"{session.label}: {error}", 500)
            print(f"holdfast: {said}", file=sys.stderr)
    if as_json:
        print(json.dumps({"pending": _all_facts(found)}, indent=2))
        return 0
    for session, done in found:
        for pending in done.presence.pending:
            print(session.label)
            print("\n".join(pending_told(pending, names_of(done))))
    if not any(done.presence.pending for _, done in found):
        print("Nothing waits for approval.", file=sys.stderr)
    return 0


def answer(options: argparse.Namespace, *, name: str, approve: bool) -> int:
    """Show the input, and approve or deny it."""
    session = live_session(name)
    done = request(session.id)
    pending = chosen(done.presence.pending, ticket_from(options.ticket))
    if not options.json:
        print("\n".join(pending_told(pending, names_of(done))))
    verb = "approve" if approve else "deny"
    if not options.yes and not confirmed(f"{verb.capitalize()} this?"):
        print(f"holdfast: not confirmed; it still waits in {session.label}")
        return EXIT_LEFT
    request(session.id, _message(pending, approve=approve))
    if options.json:
        facts = pending_facts(pending, names_of(done))
        print(json.dumps({"session": session.id, verb: facts}))
    else:
        print("approved" if approve else "denied")
    return 0


def ticket_from(text: str | None) -> int | None:
    """Parse the number of a request.

    Raises:
        UsageError: The text is not a number.

    """
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and int(text) <= MAX_NUMBER):
        raise errors.MalformedArgument(printable(text, 64), "the number of a request")
    return int(text)


def chosen(waiting: tuple[Pending, ...], ticket: int | None) -> Pending:
    """Return the input of request `ticket`, or the only one that waits.

    Raises:
        UsageError: Nothing waits, or more than one does and none was named.

    """
    if ticket is None:
        if len(waiting) != 1:
            raise errors.TicketNotNamed(len(waiting))
        return waiting[0]
    for one in waiting:
        if one.ticket == ticket:
            return one
    raise errors.NothingPending(ticket)


def _message(pending: Pending, *, approve: bool) -> Approve | Deny:
    if approve:
        return Approve(pending.ticket, pending.epoch, pending.digest)
    return Deny(pending.ticket, pending.digest)


def _all_facts(found: list[tuple[SessionRecord, Done]]) -> list[dict[str, object]]:
    return [
        {
            "session": session.id,
            "name": session.name,
            **pending_facts(pending, names_of(done)),
        }
        for session, done in found
        for pending in done.presence.pending
    ]
