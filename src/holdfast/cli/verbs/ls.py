"""`holdfast ls`: list the sessions."""

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING

from holdfast.cli import session_table
from holdfast.client import keeper
from holdfast.linux.stored.policy_state import is_policy_noteworthy
from holdfast.model.errors import NoKeeper, UsageError
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import checked_name, printable

if TYPE_CHECKING:
    from holdfast.client.past_sessions import Past
    from holdfast.model.lost_record import LostRecord

MAX_NOTICE = 1000
EXIT_AWAY = 75


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("host", metavar="HOST/", nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    known, gone, away = _known(options)
    over = _over(known, gone) if options.all and options.host is None else []
    if options.names:
        past = [*(one.label for one in gone), *(one.label for one in over)]
        for label in [*map(_completed, known), *past]:
            print(label)
    elif options.json:
        import json  # noqa: PLC0415  # only who asked for it pays for it

        facts = [session.facts() for session in known]
        told: dict[str, object] = {"lost": [one.facts() for one in gone]}
        if options.all:
            told |= {"over": [one.facts() for one in over], "unreachable": away}
        if options.host is None:
            told["notices"] = policy_notices()
        print(json.dumps({"sessions": facts, **told}, indent=2))
    else:
        _print_table(known, gone, over)
        for host, why in away.items():
            print(f"holdfast: {host}: {printable(why)}", file=sys.stderr)
        for notice in policy_notices() if options.host is None else ():
            print(f"holdfast: {printable(notice, MAX_NOTICE)}", file=sys.stderr)
    return EXIT_AWAY if away else 0


def policy_notices() -> list[str]:
    """Return what people should know about the policy here, such as a draft.

    Comparing the two files is cheap; only if they differ are they read.
    """
    if not is_policy_noteworthy():
        return []
    from holdfast.client.policies import troubles  # noqa: PLC0415  # slow to load

    return troubles()


def _known(
    options: argparse.Namespace,
) -> "tuple[list[SessionRecord], list[LostRecord], dict[str, str]]":
    """Return the sessions asked for, the lost ones, and the hosts without an answer."""
    if options.host is not None:
        from holdfast.client.lost_sessions import listed_at  # noqa: PLC0415  # rarely needed

        host = checked_name(options.host.rstrip("/"))
        return *listed_at(host, look=not options.names), {}
    known = _here(look=not options.names)
    gone = _lost(known)
    if not options.all:
        return known, gone, {}
    from holdfast.cli.roster import sessions_elsewhere  # noqa: PLC0415  # rarely needed

    elsewhere = sessions_elsewhere()
    return [*known, *elsewhere.sessions], [*gone, *elsewhere.lost], elsewhere.away


def _lost(known: list[SessionRecord]) -> "list[LostRecord]":
    """Return the sessions here that were lost."""
    from holdfast.linux.stored import recovery_places  # noqa: PLC0415  # beside the rest

    listed = {session.id for session in known}
    if listed.issuperset(recovery_places.recorded()):
        return []
    from holdfast.linux.stored.lost_sessions import lost  # noqa: PLC0415  # rarely needed

    return lost(listed)


def _over(known: list[SessionRecord], gone: "list[LostRecord]") -> "list[Past]":
    """Return the sessions here that are over, and not listed any more."""
    from holdfast.client.past_sessions import past  # noqa: PLC0415  # rarely needed

    return past({*(one.id for one in known), *(one.id for one in gone)})


def _here(*, look: bool) -> list[SessionRecord]:
    """Return the sessions here; without the keeper, as much of them as can be known."""
    try:
        return keeper.sessions(look=look)
    except NoKeeper as error:
        known = keeper.sessions_by_socket()
        if not known:
            raise
        print(
            f"holdfast: {error}; these are the sessions whose sockets answer",
            file=sys.stderr,
        )
        return known


def _print_table(
    known: list[SessionRecord], gone: "list[LostRecord]", over: "list[Past]"
) -> None:
    if not known and not gone and not over:
        print("No sessions. `holdfast new` starts one.", file=sys.stderr)
        return
    room = os.get_terminal_size(1).columns if os.isatty(1) else 0
    now = time.time()  # noqa: TID251  # for display
    rows = [
        session_table.row(f"{mark}{one.label}", one.facts(), now)
        for mark, one in session_table.as_tree(known)
    ]
    rows += [_row_of_lost(one, now) for one in gone]
    rows += [_row_of_past(one, now) for one in over]
    print("\n".join(session_table.lines(rows, room)))
    lost = [one for one in gone if not one.image]
    saved = [one for one in lost if one.saved and not one.host]
    _hint("restore", "restores a stopped session", [one for one in gone if one.image])
    _hint("restore", "restores a lost session from its newest image", saved)
    _hint("recover", "starts a lost session again, without its memory", lost)


def _hint(verb: str, what: str, which: "list[LostRecord]") -> None:
    found = [one.label for one in which]
    if found:
        label = found[0] if len(found) == 1 else "NAME"
        print(f"holdfast: `holdfast {verb} {label}` {what}", file=sys.stderr)


def _row_of_lost(one: "LostRecord", now: float) -> tuple[str, ...]:
    """Return the row of a session that was lost; its age is that of its last sign."""
    ago = _ago(now - one.seen_ms / 1000)
    nobody = session_table.NOBODY
    state = "stopped" if one.image else "lost"
    return one.label, one.id, f"{state}, {ago}", *(nobody,) * 4, one.line


def _row_of_past(one: "Past", now: float) -> tuple[str, ...]:
    """Return the row of a session that is over; its age is that of its end."""
    how = one.status
    state = "ended" if one.how else "lost"
    if how is not None:
        state = session_table.state_told("", how, keep=False, dozing=False)
    ago = _ago(now - one.ended_wall)
    nobody = session_table.NOBODY
    return one.label, one.id, f"{state}, {ago}", *(nobody,) * 4, one.command


def _ago(seconds: float) -> str:
    told = session_table.age(seconds)
    return "just now" if told == session_table.NOW else f"{told} ago"


def state_of(session: SessionRecord) -> str:
    """Return a session's state, in a few words."""
    told = session_table.state_told(
        session.state,
        session.exit,
        keep=session.keep,
        dozing=session.dozing,
        doing=session.doing,
        calls=bool(session.attention.what),
    )
    return told + session_table.origin_told(session.recovered_ms)


def _completed(session: SessionRecord) -> str:
    """Return what a shell can complete: a name that needs no quotes, or the id."""
    try:
        return checked_name(session.name)
    except UsageError:
        return printable(session.id, 32)
