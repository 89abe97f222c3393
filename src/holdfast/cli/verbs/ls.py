"""`holdfast ls`: list the sessions."""

import argparse
import os
import sys
import time

from holdfast.cli.table import table
from holdfast.client import keeper
from holdfast.linux.stored import folders
from holdfast.model.errors import NoKeeper, UsageError
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import checked_name, printable

TITLES = ("NAME", "ID", "STATE", "AGE", "COMMAND")
MAX_COMMAND = 200
MAX_NOTICE = 1000
EXIT_AWAY = 75
UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("host", metavar="HOST/", nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    known, away = _known(options)
    if options.names:
        for session in known:
            print(_completed(session))
    elif options.json:
        import json  # noqa: PLC0415  # only who asked for it pays for it

        facts = [session.facts() for session in known]
        told: dict[str, object] = {"unreachable": away} if options.all else {}
        if options.host is None:
            told["notices"] = policy_notices()
        print(json.dumps({"sessions": facts, **told}, indent=2))
    else:
        _print_table([TITLES, *map(_row, known)] if known else [])
        for host, why in away.items():
            print(f"holdfast: {host}: {printable(why)}", file=sys.stderr)
        for notice in policy_notices() if options.host is None else ():
            print(f"holdfast: {printable(notice, MAX_NOTICE)}", file=sys.stderr)
    return EXIT_AWAY if away else 0


def policy_notices() -> list[str]:
    """Return what people should know about the policy here, such as a draft.

    Comparing the two files is cheap; only if they differ are they read.
    """
    folder = folders.config_path()
    record = _content(f"{folder}/host/policy")
    first, _, applied = record.partition(b"\n")
    has_plugins = b'"plugins":""' not in first if first else False
    if _content(f"{folder}/policy.toml") == applied and not has_plugins:
        return []
    from holdfast.client.policies import troubles  # noqa: PLC0415  # slow to load

    return troubles()


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib is slow to load
            return file.read()
    except OSError:
        return b""


def _known(options: argparse.Namespace) -> tuple[list[SessionRecord], dict[str, str]]:
    """Return the sessions asked for, and the hosts that do not answer."""
    if options.host is not None:
        return keeper.sessions(host=checked_name(options.host.rstrip("/"))), {}
    known = _here()
    if not options.all:
        return known, {}
    from holdfast.cli.roster import sessions_elsewhere  # noqa: PLC0415  # rarely needed

    elsewhere, away = sessions_elsewhere()
    return [*known, *elsewhere], away


def _here() -> list[SessionRecord]:
    """Return the sessions here; without the keeper, as much of them as can be known."""
    try:
        return keeper.sessions()
    except NoKeeper as error:
        known = keeper.sessions_by_socket()
        if not known:
            raise
        print(
            f"holdfast: {error}; these are the sessions whose sockets answer",
            file=sys.stderr,
        )
        return known


def _print_table(rows: list[tuple[str, ...]]) -> None:
    if not rows:
        print("No sessions. `holdfast new` starts one.", file=sys.stderr)
        return
    room = os.get_terminal_size(1).columns if os.isatty(1) else 0
    for line in table(rows):
        print(line[: room - 1] + "…" if 0 < room < len(line) else line)


def _row(session: SessionRecord) -> tuple[str, ...]:
    return (
        session.label,
        session.id,
        state_of(session),
        age(time.time() - session.created_ms / 1000),  # noqa: TID251  # for display
        printable(" ".join(session.command), MAX_COMMAND),
    )


def state_of(session: SessionRecord) -> str:
    """Return a session's state, in at most two words."""
    kept = ", kept" if session.keep else ""
    if session.exit is None:
        return printable(session.state or "running", 32) + kept
    if session.exit >= 0:
        return f"exited {session.exit}"
    from holdfast.cli.arguments import signal_name  # noqa: PLC0415  # rarely needed

    return f"killed {signal_name(-session.exit)}"


def age(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, unit in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"


def _completed(session: SessionRecord) -> str:
    """Return what a shell can complete: a name that needs no quotes, or the id."""
    try:
        return checked_name(session.name)
    except UsageError:
        return printable(session.id, 32)
