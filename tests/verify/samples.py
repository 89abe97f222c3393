"""Reports to draw."""

from holdfast.verify.finding import Check, Control, Finding, Outcome, Report
from holdfast.verify.mode import MODES

HOLDS = Check("it lives", Outcome.HOLDS, "", {"pid": 12, "next_offset": 4096})
BROKEN = Check("<b>it lives</b>", Outcome.BROKEN, "", {"pid": None})
MISSING = Check("a restore", Outcome.UNAVAILABLE, "no CRIU & no luck")


def finding(number: int, *checks: Check) -> Finding:
    """Return a finding of a mode."""
    return Finding(MODES[number - 1], checks, 1.25)


def report(*findings: Finding, controls: tuple[Control, ...] = ()) -> Report:
    """Return a report of findings."""
    return Report("1.2", "Linux 6", "2026-01-02", 61.4, findings, controls)
