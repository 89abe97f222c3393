"""`holdfast conformance`: run the wire contract against a session."""

import argparse
import json
import os
import sys

from holdfast.conformance.places import NotFound, subject_at
from holdfast.conformance.run import conform
from holdfast.conformance.text import as_json, line, summary
from holdfast.conformance.verdict import Finding, Verdict
from holdfast.model.errors import MalformedArgument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("address", metavar="ADDRESS")
    parser.add_argument("--session", metavar="ID", default="")
    parser.add_argument("--operator", metavar="WHO", action="append", default=[])
    parser.add_argument("--clause", metavar="NAME", action="append", default=[])
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Try every clause, and say what came of it."""
    try:
        subject = subject_at(options.address, options.session, tuple(options.operator))
    except NotFound as error:
        raise MalformedArgument(options.address, str(error)) from error
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def told(finding: Finding) -> None:
        if not options.json:
            print(line(finding, colour=colour), flush=True)

    findings = conform(subject, told, frozenset(options.clause))
    if options.json:
        print(json.dumps(as_json(subject, findings), indent=2))
    else:
        print(summary(subject, findings))
    failed = any(one.verdict is Verdict.FAIL for one in findings)
    return 1 if failed or not findings else 0
