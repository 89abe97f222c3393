"""`holdfast revoke`: revoke all of an operator's rights."""

import argparse
import json

from holdfast.cli.operator_names import actor_from, operator_from
from holdfast.cli.turn_requests import live_session, report
from holdfast.client import host, keeper
from holdfast.client.authority import demand_grant
from holdfast.client.calls import request
from holdfast.client.own_name import login_name
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.errors import HoldfastError, MalformedArgument
from holdfast.model.session_requests import Look
from holdfast.model.text import printable
from holdfast.wire.presence import Revoke


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--everywhere", action="store_true")
    parser.add_argument("words", metavar="[NAME] @OPERATOR", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Revoke the rights."""
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
        raise MalformedArgument(actor.name, "an operator to revoke: it is yourself")
    us = demand_grant("revoke --everywhere").actor.id
    revoked: list[str] = []
    failed: HoldfastError | None = None
    for session in keeper.sessions():
        if session.exit is not None:
            continue
        try:
            request(session.id, Revoke(actor.id))
        except HoldfastError as error:
            # Still revoke it in the others if this one does not answer.
            error.add_note(f"{session.label} could not revoke {actor.shown()}.")
            failed = failed or error
        else:
            revoked.append(session.id)
    if failed is not None:
        # Forget it only once no running session still trusts it.
        raise failed
    operators.forget(actor.name, by=us)
    host.request(Look())  # So that its remote connections are cut at once.
    if as_json:
        print(json.dumps({"actor": actor.id, "revoked": revoked, "forgotten": True}))
    else:
        print(f"{actor.shown()} is revoked in {len(revoked)} sessions, and forgotten")
    return 0
