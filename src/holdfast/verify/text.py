"""A report as text for a terminal."""

import textwrap

from holdfast.verify.finding import Check, Control, Finding, Outcome, Report, Verdict
from holdfast.verify.mode import NOT_PROMISED

WORDS = {
    Verdict.PASSED: "pass",
    Verdict.PARTLY: "pass in part",
    Verdict.FAILED: "FAIL",
    Verdict.UNAVAILABLE: "not available here",
}
"""How a verdict is called."""

COLOURS = {
    Verdict.PASSED: "32",
    Verdict.PARTLY: "33",
    Verdict.FAILED: "31",
    Verdict.UNAVAILABLE: "33",
}
MARKS = {Outcome.HOLDS: "+", Outcome.BROKEN: "FAIL", Outcome.UNAVAILABLE: "-"}
MIN_WIDTH = 60


def rendered(report: Report, width: int, *, colour: bool) -> str:
    """Return the report for a terminal of that width."""
    width = max(width, MIN_WIDTH)
    parts = [_mode(one, width, colour=colour) for one in report.findings]
    if report.controls:
        parts.append(_controls(report.controls, width))
    parts.append(
        "Not promised\n" + "\n".join(_wrapped("- ", one, width) for one in NOT_PROMISED)
    )
    parts.append(summary(report))
    return "\n\n".join(parts) + "\n"


def summary(report: Report) -> str:
    """Return the result in one line."""
    counts = [(report.count(one), WORDS[one]) for one in Verdict]
    told = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"{told} of {len(report.findings)}, in {report.seconds:.0f} s"


def _mode(finding: Finding, width: int, *, colour: bool) -> str:
    mode, word = finding.mode, WORDS[finding.verdict]
    if colour:
        word = f"\x1b[{COLOURS[finding.verdict]}m{word}\x1b[0m"
    lines = [f"{mode.number}  {mode.title}: {word} ({finding.seconds:.1f} s)"]
    for name, value in (
        ("trigger", mode.trigger),
        ("guarantee", mode.guarantee),
        ("handed off", mode.handed_off),
    ):
        lines.append(_wrapped(f"   {name:<11}", value, width))
    lines += ["   seen", *(_check(one, width) for one in finding.checks)]
    return "\n".join(lines)


def _check(check: Check, width: int) -> str:
    text = check.what + (f": {check.why}" if check.why else "")
    if check.outcome is Outcome.UNAVAILABLE:
        text = f"{check.what}: not available here: {check.why}"
    lines = [_wrapped(f"     {MARKS[check.outcome]} ", text, width)]
    if check.evidence:
        lines.append(_wrapped("         ", evidence_text(check), width))
    return "\n".join(lines)


def evidence_text(check: Check) -> str:
    """Return what a check has seen, as one line."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in check.evidence.items()
    )


def _controls(controls: tuple[Control, ...], width: int) -> str:
    lines = ["The same injections elsewhere"]
    for one in controls:
        kept = {True: "kept", False: "LOST", None: "not available here"}[one.survived]
        start = f"   {one.program:<12}{one.injection:<20}"
        lines.append(_wrapped(start, f"{kept}: {one.seen}", width))
    return "\n".join(lines)


def _wrapped(start: str, text: str, width: int) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
