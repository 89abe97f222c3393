"""A report as JSON, in a form that stays.

    {"format": 1, "version", "system", "began", "seconds", "failed",
     "modes": [{"number", "name", "title", "verdict", "seconds",
                "trigger", "guarantee", "handed_off",
                "checks": [{"what", "outcome", "why", "evidence": {…}}]}],
     "controls": [{"program", "injection", "survived", "seen"}],
     "not_promised": […]}

`verdict` is passed, partly, failed or unavailable; `outcome` holds, broken or
unavailable; `survived` true, false, or null where it could not be tried. Members are
added, and none changes its meaning while `format` is 1. What `evidence` has in it
depends on the check, and is for people.
"""

from dataclasses import asdict

from holdfast.verify.finding import Finding, Report
from holdfast.verify.mode import NOT_PROMISED

FORMAT = 1


def as_json(report: Report) -> dict[str, object]:
    """Return the report as values that JSON can express."""
    return {
        "format": FORMAT,
        "version": report.version,
        "system": report.system,
        "began": report.began,
        "seconds": round(report.seconds, 2),
        "failed": report.failed,
        "modes": [_mode(one) for one in report.findings],
        "controls": [asdict(one) for one in report.controls],
        "not_promised": list(NOT_PROMISED),
    }


def _mode(finding: Finding) -> dict[str, object]:
    return {
        **asdict(finding.mode),
        "verdict": finding.verdict.value,
        "seconds": round(finding.seconds, 2),
        "checks": [
            {**asdict(one), "outcome": one.outcome.value} for one in finding.checks
        ],
    }
