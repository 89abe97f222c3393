"""Findings as text, and as JSON."""

from typing import Any

from holdfast.conformance.subject import Subject
from holdfast.conformance.verdict import Finding, Verdict

WORDS = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "FAIL",
    Verdict.NOT_TRIED: "not tried",
}
COLOURS = {Verdict.PASS: "32", Verdict.FAIL: "1;31", Verdict.NOT_TRIED: "33"}


def line(finding: Finding, *, colour: bool) -> str:
    """Return what came of a clause, as two lines."""
    word = f"{WORDS[finding.verdict]:<9}"
    if colour:
        word = f"\x1b[{COLOURS[finding.verdict]}m{word}\x1b[0m"
    seen = printable(finding.seen)
    return f"{word} {finding.section:<5} {finding.clause}\n                {seen}"


def summary(subject: Subject, findings: list[Finding]) -> str:
    """Return the last line."""
    counts = {
        verdict: sum(one.verdict is verdict for one in findings) for verdict in Verdict
    }
    parts = [
        f"{counts[Verdict.PASS]} passed",
        f"{counts[Verdict.FAIL]} failed",
        f"{counts[Verdict.NOT_TRIED]} not tried",
    ]
    return f"{subject.address}: {', '.join(parts)}; {subject.notes.frames} frames read"


def as_json(subject: Subject, findings: list[Finding]) -> dict[str, Any]:
    """Return the whole report for programs."""
    return {
        "address": subject.address,
        "session": subject.session,
        "specification": "docs/spec/wire.md",
        "version": 1,
        "conforms": all(one.verdict is not Verdict.FAIL for one in findings),
        "clauses": [
            {
                "section": one.section,
                "name": one.name,
                "clause": one.clause,
                "verdict": str(one.verdict),
                "seen": printable(one.seen),
                "seconds": round(one.seconds, 3),
            }
            for one in findings
        ],
    }


def printable(text: str) -> str:
    """Return a text of which no terminal obeys anything: a subject may be hostile."""
    return "".join(one if one.isprintable() else "?" for one in text)[:300]
