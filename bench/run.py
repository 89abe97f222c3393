"""Measure what the budgets speak of, and print each figure beside its budget.

    make bench
    python -m bench.run --only echo
    python -m bench.run --quick --json figures.json

Figures are of this machine and this moment. A missed budget is printed as
missed and is no error: timing decides nothing but what is written down.
"""

import argparse
import importlib
import os
import signal
import sys
from pathlib import Path

from bench.screens import NeverCame
from bench.table import Scale, Table

GROUPS = (
    "core",
    "policy",
    "agent_day",
    "output",
    "echo",
    "key_calls",
    "opening",
    "overview",
    "framing",
    "weight",
    "waking",
    "many",
    "crowd",
    "recovery",
    "seizing",
    "freezing",
    "truth",
    "calling",
    "prompt",
    "verbs",
    "book",
    "judged",
    "executing",
    "dumping",
    "relay",
    "remote",
    "agents",
)
"""Each is the module of its name, with `measure`."""


def main() -> int:
    """Run the groups asked for, and print the table."""
    options = _options()
    # An installed holdfast has its modules compiled; so have we.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # If the run is stopped, it must not leave thousands of sessions behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scale = Scale(options.quick, options.sessions or (50 if options.quick else 2000))
    table = Table()
    for name in options.only or GROUPS:
        try:
            importlib.import_module(f"bench.{name}").measure(table, scale)
        except (NeverCame, AssertionError, OSError) as error:
            # One group that fails should not cost the figures of all the others.
            table.note(f"{name} was broken off: {error!r}")
    table.close()
    if options.json is not None:
        table.save(options.json)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=GROUPS, help="this group; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help="show that it runs")
    parser.add_argument(
        "--sessions", type=int, metavar="N", help="how many live at once (2,000)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write it down too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
