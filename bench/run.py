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
import time
from pathlib import Path

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
    "leases",
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
    "scores",
    "judged",
    "executing",
    "dumping",
    "capsules",
    "branching",
    "relay",
    "remote",
    "agents",
)
"""Each is the module of its name, with `measure`."""


LONGEST = 300
"""Seconds for one group: what hangs must not cost the figures of all the others."""


def main() -> int:
    """Run the groups asked for, and print the table."""
    options = _options()
    # An installed holdfast has its modules compiled; so have we.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # If the run is stopped, it must not leave thousands of sessions behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scale = Scale(options.quick, options.sessions or (50 if options.quick else 2000))
    table = Table()
    signal.signal(signal.SIGALRM, _too_long)
    for name in options.only or GROUPS:
        began_at = time.monotonic()
        signal.alarm(LONGEST)
        try:
            importlib.import_module(f"bench.{name}").measure(table, scale)
        except Exception as error:  # noqa: BLE001  # whatever it is, the others are measured
            table.broken(name, error)
        finally:
            signal.alarm(0)
        table.took(name, time.monotonic() - began_at)
    table.close()
    if options.json is not None:
        table.save(options.json)
    return 1 if table.is_broken else 0


def _too_long(*_: object) -> None:
    raise TimeoutError(f"it took more than {LONGEST} s")


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
