"""`holdfast reap`: show which idle sessions will be reaped, and why others will not."""

import argparse
import json
import sys

from holdfast.cli.session_table import age
from holdfast.cli.table import table
from holdfast.client import host
from holdfast.model.process_status import ReapReport, ReapStanding
from holdfast.model.session_record import as_facts, record_of
from holdfast.model.session_requests import ReapStandings
from holdfast.model.settings import bytes_told, seconds_told
from holdfast.model.text import printable, shown_name

TITLES = ("NAME", "ID", "IDLE", "MEMORY", "REAPED", "WHY")

EXIT_NO_HOST = 75

NO_HOST = "The host is not running, so nothing is reaped. `holdfast up` starts it."
OFF = "Nothing is reaped: there is no `after`, `sessions` or `memory` in [reap]."
_WORDS = {
    "idle-window": "nobody uses it",
    "population-cap": "there are too many sessions",
    "memory-cap": "sessions take too much memory",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Ask the host, and show what it says; without --dry-run, have it look now."""
    answer = host.request(ReapStandings(look=not options.dry_run))
    if answer is None:
        print(NO_HOST, file=sys.stderr)
        return EXIT_NO_HOST
    report = record_of(ReapReport, answer)
    if options.json:
        print(json.dumps(as_facts(report), indent=2))
    else:
        show(report)
    return 0


def show(report: ReapReport) -> None:
    """Print what is gone by, and how each session stands."""
    if not report.on:
        print(OFF, file=sys.stderr)
        return
    print(_policy(report), file=sys.stderr)
    for line in table([TITLES, *map(_row, report.standings)]):
        print(line)
    left = report.count_ - len(report.standings)
    if left:
        print(f"… and {left} more", file=sys.stderr)


def _policy(report: ReapReport) -> str:
    said = []
    if report.after:
        said.append(f"idle for {seconds_told(report.after)}")
    if report.sessions_:
        said.append(f"more than {report.sessions_} sessions")
    if report.memory:
        said.append(f"more than {bytes_told(report.memory)} of memory")
    whose = "everybody's sessions" if report.people else "sessions that agents began"
    warned = f"a warning {seconds_told(report.warning)} before"
    return f"Reaped: {whose}; {' or '.join(said)}; {warned}."


def _row(one: ReapStanding) -> tuple[str, ...]:
    is_due = one.reap_in >= 0
    return (
        shown_name(one.name),
        one.id,
        age(one.idle) if is_due or not one.why_not else "-",
        f"{one.memory / 1_000_000:.0f} MB",
        f"in {age(one.reap_in)}" if is_due and one.reap_in >= 1 else "now" * is_due,
        _WORDS.get(one.reason, "") if is_due else printable(one.why_not, 80),
    )
