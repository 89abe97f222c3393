"""`holdfast detach`: detach clients from a session, which keeps running."""

import argparse
import json

from holdfast.cli.operator_names import Names, actor_from
from holdfast.cli.turn_requests import add_session_arguments, live_session
from holdfast.client.calls import request
from holdfast.model.errors import MalformedArgument
from holdfast.model.text import printable
from holdfast.wire.presence import DetachClient, Present


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)
    parser.add_argument("operator", metavar="@OPERATOR", nargs="?")
    parser.add_argument("--all", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Detach them, and say who was detached."""
    if options.all and options.operator is not None:
        raise MalformedArgument("--all", "used together with an operator")
    session = live_session(options.session)
    done = request(session.id)
    whose = done.us
    if options.operator is not None:
        whose = actor_from(options.operator, session.id)
    leaving = [
        one for one in done.presence.present if options.all or one.actor == whose
    ]
    if leaving:
        request(session.id, *(DetachClient(one.client) for one in leaving))
    if options.json:
        clients = [one.client for one in leaving]
        print(json.dumps({"session": session.id, "detached": clients}))
        return 0
    names = Names(done.us)
    names.meet(done.presence.present)
    print("\n".join(_told(session.label, names, leaving)))
    return 0


def _told(session: str, names: Names, gone: list[Present]) -> list[str]:
    if not gone:
        return [f"{session}: no client to detach is attached"]
    return [
        f"{session}: detached {names.you(one.actor)} ({printable(one.program, 32)})"
        for one in gone
    ]
