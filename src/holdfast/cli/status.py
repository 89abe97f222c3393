"""`holdfast status`: say what runs on this machine."""

import argparse
import json
import os

from holdfast.cli.manual import describe
from holdfast.client import keeper
from holdfast.linux import places
from holdfast.model.errors import NoKeeper
from holdfast.model.text import printable
from holdfast.version import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Say which version this is, whether the keeper runs, and how many sessions"
        " there are. Nothing is started by asking.",
        {
            "holdfast status": "for people",
            "holdfast status --json": "for programs",
        },
    )
    parser.add_argument("--json", action="store_true", help="print facts for programs")


def run(options: argparse.Namespace) -> int:
    """Ask the keeper, if there is one."""
    facts: dict[str, object] = {
        "version": __version__,
        "runtime_dir": os.fspath(places.runtime_dir()),
        "keeper": None,
    }
    try:
        answer = keeper.request("status", start=False)
    except NoKeeper as error:
        facts["why"] = str(error)
    else:
        facts["keeper"] = {name: v for name, v in answer.items() if name != "ok"}
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        _print(facts)
    return 0


def _print(facts: dict[str, object]) -> None:
    print(f"{'holdfast':<12} {facts['version']}")
    print(f"{'sockets in':<12} {printable(str(facts['runtime_dir']))}")
    answer = facts["keeper"]
    if not isinstance(answer, dict):
        print(f"{'keeper':<12} not running; the next `holdfast new` starts it")
        return
    print(f"{'keeper':<12} running")
    for name, value in answer.items():
        print(f"  {printable(str(name), 32):<10} {printable(str(value))}")
