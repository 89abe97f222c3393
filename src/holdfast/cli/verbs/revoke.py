"""`holdfast revoke`: revoke all of an operator's rights."""

import argparse
import json

from holdfast.cli.manual import describe
from holdfast.cli.operator_names import actor_from, operator_from
from holdfast.cli.turn_requests import live_session, report
from holdfast.client import host, keeper
from holdfast.client.authority import demand_grant
from holdfast.client.calls import request
from holdfast.client.profile import login_name
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.errors import HoldfastError, MalformedArgument
from holdfast.model.session_requests import Look
from holdfast.model.text import printable
from holdfast.wire.company import Revoke


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Take everything from an operator in a session, at once: its clients are hung"
        " up on, its turn comes free, what it has in line is thrown away. With"
        " --everywhere in every session of this machine, and its key is deleted"
        " here, so that it is known to no new session either.",
        {
            "holdfast revoke web @bot": "bot can do nothing in web",
            "holdfast revoke --everywhere @bot": "nor anywhere else",
        },
        {
            75: "a session did not answer: its operator is left known, try again",
            77: "you may not grant here, or nobody is called that",
        },
    )
    parser.add_argument("--json", action="store_true", help="print facts for programs")
    parser.add_argument(
        "--everywhere", action="store_true", help="in every session, and its key"
    )
    parser.add_argument("words", metavar="[NAME] @OPERATOR", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Take everything away."""
    words = 1 if options.everywhere else 2
    if len(options.words) != words:
        wanted = "an operator alone" if options.everywhere else "NAME @OPERATOR"
        raise MalformedArgument(printable(" ".join(options.words), 64), wanted)
    if options.everywhere:
        return _everywhere(operator_from(options.words[-1]), as_json=options.json)
    session = live_session(options.words[0])
    actor = actor_from(options.words[1], session.id)
    return report(options, session, request(session.id, Revoke(actor)))


def _everywhere(found: Enrolled, *, as_json: bool) -> int:
    actor = found.actor
    if actor.name == login_name():
        raise MalformedArgument(actor.name, "somebody to revoke: it is yourself")
    us = demand_grant("revoke --everywhere").actor.id
    revoked: list[str] = []
    failed: HoldfastError | None = None
    for session in keeper.sessions():
        if session.exit is not None:
            continue
        try:
            request(session.id, Revoke(actor.id))
        except HoldfastError as error:
            # The others must not keep it because this one does not answer.
            error.add_note(f"{session.label} was to revoke {actor.shown()}.")
            failed = failed or error
        else:
            revoked.append(session.id)
    if failed is not None:
        # Unknown to new sessions only when no old one still trusts it.
        raise failed
    operators.forget(actor.name, by=us)
    host.request(Look())  # So that whoever is here from elsewhere is cut at once.
    if as_json:
        print(json.dumps({"actor": actor.id, "revoked": revoked, "forgotten": True}))
    else:
        print(f"{actor.shown()} is revoked in {len(revoked)} sessions, and forgotten")
    return 0
