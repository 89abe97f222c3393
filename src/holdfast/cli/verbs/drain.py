"""`holdfast drain`: move or save sessions before this machine goes down."""

import argparse
import json
import sys
import time

from holdfast.cli.table import table
from holdfast.client import host, hosts
from holdfast.linux.stored import config
from holdfast.model.errors import MalformedArgument
from holdfast.model.process_status import DrainedSession, DrainReport
from holdfast.model.session_record import as_facts, record_of
from holdfast.model.session_requests import DrainHost
from holdfast.model.settings import MAX_SPAN, seconds_from
from holdfast.model.text import printable, shown_name

EXIT_STAYED = 1
EXIT_NO_HOST = 75

STEP = 0.2
"""Seconds between two looks at how far it has come."""

NO_HOST = "No host runs here, which would do it. `holdfast up` starts one."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--to", metavar="HOST")
    parser.add_argument("--deadline", metavar="TIME")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Have it begun, wait for its end, and say what has left and what has not."""
    return carry_out(options, options.to or "")


def carry_out(options: argparse.Namespace, to: str, *, only_moves: bool = False) -> int:
    """Have sessions leave, to a host if one is named; return the exit status.

    Raises:
        UsageError: There is no such host, or the deadline is none.

    """
    seconds = _deadline(options.deadline)
    if to:
        to = hosts.by_name(to.removeprefix("@")).name
    report = _asked(DrainHost(seconds, to, only_moves))
    shown = ""
    while report is not None and report.on:
        if (
            not options.json
            and sys.stderr.isatty()
            and (line := _progress(report)) != shown
        ):
            print(line, file=sys.stderr)
            shown = line
        time.sleep(STEP)
        report = _asked(DrainHost())
    if report is None:
        print(NO_HOST, file=sys.stderr)
        return EXIT_NO_HOST
    if options.json:
        print(json.dumps(as_facts(report), indent=2))
    else:
        show(report)
    return EXIT_STAYED if report.stayed_count or report.failed else 0


def show(report: DrainReport) -> None:
    """Print what has left and what has not, and why."""
    if report.failed:
        print(f"Nothing was begun: {printable(report.failed, 500)}", file=sys.stderr)
        return
    rows = [*map(_row, report.left), *map(_row, report.stayed)]
    for line in table([("NAME", "ID", "WHERE"), *rows]) if rows else ():
        print(line)
    on_disk = report.left_count - report.moved_count
    moved = f"{report.moved_count} moved, " if report.moved_count else ""
    print(f"{moved}{on_disk} on disk, {report.stayed_count} not.", file=sys.stderr)
    if on_disk:
        print("`holdfast restore --all` brings them back.", file=sys.stderr)


def _asked(asked: DrainHost) -> DrainReport | None:
    answer = host.request(asked)
    return None if answer is None else record_of(DrainReport, answer)


def _deadline(text: str | None) -> float:
    if text is None:
        return config.settings().host.drain_deadline
    seconds = seconds_from(text)
    if seconds is None or not 1 <= seconds <= MAX_SPAN:
        raise MalformedArgument("--deadline", "a time such as 90s or 5m")
    return seconds


def _progress(report: DrainReport) -> str:
    now = ", ".join(shown_name(one) for one in report.leaving)
    return f"{report.left_count} of {report.count_} have left; now: {now or 'looking'}"


def _row(one: DrainedSession) -> tuple[str, ...]:
    where = f"at {shown_name(one.host)}" if one.host else one.image
    where = where or f"stays: {printable(one.why, 200)}"
    return shown_name(one.name), one.id, where
