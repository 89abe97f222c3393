"""`holdfast down`: stop holdfast's own processes, and leave the sessions running."""

import argparse
import contextlib
import json
import signal
import time

from holdfast.client import host, keeper
from holdfast.model.errors import HoldfastError, NoKeeper, WaitedInVain
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Down, Forget

GRACE = 3.0
"""Seconds a session has to end after SIGHUP; then it is killed."""

PATIENCE = 15.0
"""Seconds until all sessions must have ended, and the keeper must be gone."""

_STEP = 0.02


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--end-sessions", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Stop everything, and say what keeps running."""
    ended = _end_sessions() if options.end_sessions else []
    had_host = host.end()
    going_on = _end_keeper()
    if options.json:
        facts = {
            "host": had_host,
            "keeper": going_on is not None,
            "running": going_on or 0,
            "ended": [
                {"id": one.id, "name": one.name, "exit": one.exit} for one in ended
            ],
        }
        print(json.dumps(facts, indent=2))
        return 0
    _print(ended, going_on, had_host=had_host)
    return 0


def _print(ended: list[SessionRecord], going_on: int | None, *, had_host: bool) -> None:
    for one in ended:
        print(f"{one.label} ({one.id}) ended: {_how(one.exit)}")
    if going_on is None:
        print("no keeper was running" + ("; the host has ended" if had_host else ""))
    elif going_on == 0:
        print("stopped; no session is running")
    else:
        many = f"{going_on} sessions keep" if going_on > 1 else "1 session keeps"
        print(f"{many} running. Until `holdfast up`, a session ends if its holder dies")


def _how(status: int | None) -> str:
    from holdfast.cli.arguments import signal_name  # noqa: PLC0415  # rarely needed

    if status is None:
        return "status unknown"
    return f"exit {status}" if status >= 0 else f"killed by {signal_name(-status)}"


def _end_keeper() -> int | None:
    """Stop the keeper; return how many sessions run on, or None without one."""
    try:
        running = [one for one in keeper.sessions(start=False) if one.exit is None]
        keeper.request(Down(), start=False)
    except NoKeeper:
        return None
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            keeper.status()
        except NoKeeper:
            return len(running)
        time.sleep(_STEP)
    raise WaitedInVain("the end of the keeper", int(PATIENCE * 1000))


def _end_sessions() -> list[SessionRecord]:
    """Send SIGHUP to every session, kill those that stay, and drop their records."""
    wanted = {one.id for one in keeper.sessions() if one.exit is None}
    deadline = time.monotonic() + PATIENCE
    # The links stay open: a message sent just before a link closes may be lost.
    with contextlib.ExitStack() as links:
        _signal_all(wanted, signal.SIGHUP, links)
        left = _wait(wanted, time.monotonic() + GRACE)
        _signal_all(left, signal.SIGKILL, links)
        if _wait(left, deadline):
            what = f"the end of {len(left)} sessions"
            raise WaitedInVain(what, int(PATIENCE * 1000))
    known = keeper.sessions()
    for one in known:
        keeper.request(Forget(one.id))
    return [one for one in known if one.id in wanted]


def _wait(sessions: set[SessionId], deadline: float) -> set[SessionId]:
    """Wait for sessions to end, and return those still running."""
    while True:
        running = {one.id for one in keeper.sessions() if one.exit is None}
        left = sessions & running
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(_STEP)


def _signal_all(
    sessions: set[SessionId], number: int, links: contextlib.ExitStack
) -> None:
    from holdfast.client.connection import Connection  # noqa: PLC0415  # rarely needed
    from holdfast.wire.messages import End  # noqa: PLC0415

    for session in sorted(sessions):
        try:
            link = links.enter_context(Connection.open(session))
            link.send(End(number, leave=False))
        except HoldfastError:
            continue  # The session or its holder is ending: the list will show it.
