"""`holdfast can-checkpoint`: list what prevents a checkpoint of a session."""

import argparse
import json

import msgspec

from holdfast.cli.turn_requests import add_session_arguments, live_session
from holdfast.client.calls import preflight
from holdfast.model.text import printable
from holdfast.wire.preflights import Blocker, Preflight


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    session = live_session(options.session)
    seen = preflight(session.id)
    can = not seen.blockers
    if options.json:
        facts = {"session": session.id, "can": can, **msgspec.to_builtins(seen)}
        print(json.dumps(facts))
    else:
        print("\n".join(lines(seen)))
    return 0 if can else 1


def lines(seen: Preflight) -> list[str]:
    """Return the answer for people."""
    said = ["no" if seen.blockers else "yes"]
    for one in seen.blockers:
        said += [f"  {_whose(one)}{printable(one.what)}", f"    {one.why}"]
        said.append(f"    what to do: {printable(one.remedy)}")
    for cut in seen.cuts:
        whose = f"{printable(cut.program)} ({cut.pid})"
        said.append(
            f"  {whose}: the connection to {printable(cut.peer)} would be closed"
        )
    if seen.unlisted:
        said.append(f"  and {seen.unlisted} more")
    return said


def _whose(one: Blocker) -> str:
    if not one.pid:
        return ""
    place = "" if one.descriptor is None else f", descriptor {one.descriptor}"
    return f"{printable(one.program)} ({one.pid}){place}: "
