"""`holdfast recover`: start a lost session again."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.errors import HoldfastError, MalformedArgument, NotAllowed, OnlyHere
from holdfast.model.text import checked_name, printable, shown_name

if TYPE_CHECKING:
    from holdfast.model.lost_record import LostRecord

EXIT_SOME = 75
"""With --all: at least one was not recovered."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME", nargs="?")
    parser.add_argument("-d", "--detach", action="store_true")
    parser.add_argument("-n", "--name", metavar="N")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--forget", action="store_true")
    parser.add_argument("--timeout", metavar="S", type=float, default=APPROVAL)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Start it again, then attach to it or say how to."""
    if options.all == (options.session is not None):
        raise MalformedArgument("NAME", "the name of a lost session, or --all")
    if options.all:
        return _all(options)
    if options.forget:
        return _forget(options.session)
    name = checked_name(options.name) if options.name else None
    if not options.detach and not options.json:
        from holdfast.cli.terminal import demand_terminal  # noqa: PLC0415  # not needed

        demand_terminal()  # Before anything is started.
    from holdfast.client.lost_sessions import find_lost  # noqa: PLC0415  # after the words

    session = begin(
        find_lost(options.session),
        name,
        timeout=options.timeout,
        as_json=options.json,
        attaches=not options.detach,
    )
    if options.detach or options.json:
        return 0
    from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach
    from holdfast.client import keeper  # noqa: PLC0415  # ditto

    return show(keeper.find(session))


def begin(
    one: "LostRecord",
    name: str | None,
    *,
    timeout: float,
    as_json: bool = False,
    attaches: bool = False,
) -> str:
    """Start a lost session again, say so, and return its id."""
    from holdfast.cli.verbs.new import await_approval  # noqa: PLC0415  # ditto
    from holdfast.client.lost_sessions import recover  # noqa: PLC0415  # after the words
    from holdfast.client.session_location import settle  # noqa: PLC0415  # ditto

    made = recover(one, name)
    if one.host:
        settle(made.id, one.host)
    if made.state == "starting":
        await_approval(made, one.host, timeout)
    if as_json:
        facts = {"id": made.id, "name": made.name, "pid": made.pid}
        print(json.dumps({**facts, "incarnation": made.incarnation}))
    else:
        label = (
            f"{one.host}/{shown_name(made.name)}" if one.host else shown_name(made.name)
        )
        hint = "" if attaches else f" `holdfast attach {label}` shows it."
        print(f"{label} was started again (incarnation {made.incarnation}).{hint}")
    sys.stdout.flush()
    return f"{one.host}/{made.id}" if one.host else made.id


def _all(options: argparse.Namespace) -> int:
    from holdfast.client import keeper  # noqa: PLC0415  # after the words
    from holdfast.linux.stored.lost_sessions import lost  # noqa: PLC0415  # ditto

    status = 0
    for one in lost({known.id for known in keeper.sessions()}):
        if one.image:
            continue  # It was not lost.
        try:
            begin(one, None, timeout=options.timeout, as_json=options.json)
        except HoldfastError as error:
            print(f"holdfast: {one.label}: {printable(str(error))}", file=sys.stderr)
            status = EXIT_SOME
    return status


def _forget(text: str) -> int:
    """Drop what is kept of a lost session; its logbook stays."""
    from holdfast.client.lost_sessions import find_lost  # noqa: PLC0415  # after the words
    from holdfast.client.profile import our_id  # noqa: PLC0415  # ditto
    from holdfast.client.wanted_session import are_we_a_person  # noqa: PLC0415  # ditto
    from holdfast.linux.stored import recovery_places  # noqa: PLC0415  # ditto

    one = find_lost(text)
    if one.host:
        raise OnlyHere("forgetting a lost session")
    if not are_we_a_person():
        raise NotAllowed(our_id(), "end")
    recovery_places.remove(one.id)
    return 0
