"""`holdfast upgrade`: move the running sessions to this version of the code."""

import argparse
import json
import os
import sys
from pathlib import Path

import holdfast
from holdfast.client import host, keeper
from holdfast.linux.keeper_requests import keeper_answers
from holdfast.model.errors import HostDidNotStart, NoKeeper, UnexpectedMessage
from holdfast.model.session_requests import Replace, Upgrade
from holdfast.model.text import printable
from holdfast.version import __version__

PATIENCE = 60.0
"""Seconds between two messages of the keeper: rolling many back is silent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Ask the keeper, show progress, and replace the host."""
    try:
        before = keeper.status()
    except NoKeeper:
        return _nothing_runs(as_json=options.json)
    code = Upgrade(sys.executable, code_folder(), __version__)
    moved = _upgrade(code, shows=not options.json)
    had_host = _replace_host(code)
    after = keeper.status()
    facts = {
        "before": {"version": before.version, "root": before.root},
        "after": {"version": after.version, "root": after.root},
        "sessions": moved,
        "host": had_host,
    }
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        was, now = printable(before.version), printable(after.version)
        print(f"{_count(moved)} moved; {was} is now {now}")
    return 0


def code_folder() -> str:
    """Return the folder that contains the running package."""
    return str(Path(holdfast.__file__).resolve().parents[1])


def _upgrade(code: Upgrade, *, shows: bool) -> int:
    moved = 0
    is_terminal = os.isatty(2)
    try:
        for part in keeper_answers(code, patience=PATIENCE):
            if part.get("more"):
                moved = int(str(part.get("moved") or 0))
                if shows and is_terminal:
                    line = f"\r{moved} of {part.get('of')} sessions"
                    print(line, end="", file=sys.stderr, flush=True)
    except NoKeeper as error:
        error.add_note("The keeper died meanwhile. Sessions keep running; try again.")
        raise
    except UnexpectedMessage as error:
        error.add_note(
            "The running keeper is too old to be upgraded: run `holdfast down`, then"
            " `holdfast up`, to start a new one. Sessions keep running."
        )
        raise
    finally:
        if shows and is_terminal and moved:
            print(file=sys.stderr)
    return moved


def _replace_host(code: Upgrade) -> bool:
    found = host.status()
    if found is None:
        return False
    host.request(Replace(code.python, code.root))
    try:
        host.wait(other_than=found.began)
    except HostDidNotStart:
        host.start()
    return True


def _nothing_runs(*, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"before": None, "after": None, "sessions": 0}))
    else:
        print("no keeper is running: the next one will use this code")
    return 0


def _count(number: int) -> str:
    return "1 session" if number == 1 else f"{number} sessions"
