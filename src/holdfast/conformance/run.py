"""Tries every clause, one after the other."""

import time
from collections.abc import Callable

from holdfast.conformance import (
    input_clauses,
    link_clauses,
    turn_clauses,
    watch_clauses,
)
from holdfast.conformance.clauses import CLAUSES, Clause
from holdfast.conformance.link import Closed
from holdfast.conformance.subject import Subject
from holdfast.conformance.verdict import Broken, Finding, NotTried, Verdict

PARTS = (link_clauses, watch_clauses, input_clauses, turn_clauses)
"""What the list is made of, in the order in which it is tried."""


def conform(
    subject: Subject,
    told: Callable[[Finding], None],
    wanted: frozenset[str] = frozenset(),
) -> list[Finding]:
    """Try the clauses of these names, or all; tell of each when it is done."""
    findings = []
    order = [part.__name__ for part in PARTS]
    for one in sorted(CLAUSES, key=lambda one: order.index(one.check.__module__)):
        if not wanted or one.name in wanted:
            finding = _tried(one, subject)
            told(finding)
            findings.append(finding)
    return findings


def _tried(one: Clause, subject: Subject) -> Finding:
    begin = time.monotonic()
    with subject.links_closed():
        try:
            verdict, seen = Verdict.PASS, one.check(subject)
        except Broken as error:
            verdict, seen = Verdict.FAIL, str(error)
        except Closed:
            verdict, seen = Verdict.FAIL, "it hung up in the middle"
        except NotTried as error:
            verdict, seen = Verdict.NOT_TRIED, str(error)
        except (KeyError, TypeError, ValueError) as error:
            # A field that is missing, or is not what section 4 says.
            verdict, seen = Verdict.FAIL, f"a message makes no sense: {error!r}"
    seconds = time.monotonic() - begin
    return Finding(one.section, one.name, one.text, verdict, seen, seconds)
