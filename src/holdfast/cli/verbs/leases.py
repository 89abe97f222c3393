"""`holdfast leases`: show the leases of movable sessions."""

import argparse
import json
import sys

from holdfast.cli.table import table
from holdfast.client import host
from holdfast.model.process_status import HostStatus, LeaseStatus
from holdfast.model.session_record import as_facts
from holdfast.model.text import printable, shown_name

TITLES = ("NAME", "ID", "LIFE", "LEASE", "RELAY", "WHY")

EXIT_FENCED = 1
EXIT_NO_HOST = 75

NO_HOST = "The host is not running, so no lease is renewed. `holdfast up` starts it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Ask the host, and show what it says."""
    status = host.status()
    if status is None:
        print(NO_HOST, file=sys.stderr)
        return EXIT_NO_HOST
    if options.json:
        leases = [as_facts(one) for one in status.leases]
        counts = {"count": status.lease_count, "fenced": status.fenced_count}
        print(json.dumps({"leases": leases, **counts}, indent=2))
    else:
        _show(status)
    return EXIT_FENCED if status.fenced_count else 0


def _show(status: HostStatus) -> None:
    if not status.lease_count:
        print("No session here is movable.", file=sys.stderr)
        return
    for line in table([TITLES, *map(_row, status.leases)]):
        print(line)
    left = status.lease_count - len(status.leases)
    if left:
        print(f"… and {left} more", file=sys.stderr)


def _row(one: LeaseStatus) -> tuple[str, ...]:
    is_held = one.state == "held"
    return (
        shown_name(one.name),
        one.id,
        str(one.incarnation),
        f"{one.expires_in:.0f} s" if is_held else one.state,
        printable(one.relay, 60),
        "" if is_held else printable(one.why, 120),
    )
