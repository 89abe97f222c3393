"""Puts the history of a run into words."""

from collections import Counter
from collections.abc import Sequence

from tests.chaos import checks
from tests.chaos.history import Line

FEW = 10
"""Violations of one kind that are shown."""


def written(lines: Sequence[Line], seed: int, seconds: float) -> tuple[str, int]:
    """Return the report of a run, and its exit status: 1 if a promise was broken."""
    found = checks.violations(lines)
    parts = [
        f"chaos: seed {seed}, {seconds:.0f} s",
        *_faults(lines),
        *_work(lines),
        *_verdicts(found),
    ]
    broken = sum(map(len, found.values()))
    parts.append(f"{broken} violations" if broken else "no promise was broken")
    return "\n".join(parts), 1 if broken else 0


def _faults(lines: Sequence[Line]) -> list[str]:
    faults = [line for line in lines if line["do"] == "fault"]
    done = Counter(line["kind"] for line in faults if not line["skipped"])
    skipped = Counter(
        (line["kind"], line["skipped"]) for line in faults if line["skipped"]
    )
    parts = ["", f"{sum(done.values())} faults injected:"]
    parts += [f"  {count:4}  {kind}" for kind, count in sorted(done.items())]
    parts += [
        f"  {count:4}  {kind}: not injected, {why}"
        for (kind, why), count in sorted(skipped.items())
    ]
    return parts


def _work(lines: Sequence[Line]) -> list[str]:
    outcomes = Counter(line["outcome"] for line in lines if line["do"] == "answer")
    ran = [line for line in lines if line["do"] == "ran"]
    told = sum(line["status"] is not None for line in ran)
    began = sum(line["do"] == "began" for line in lines)
    acts = Counter(
        (line["words"][0], line["status"] == 0) for line in lines if line["do"] == "act"
    )
    shown = ", ".join(f"{count} {word}" for word, count in sorted(outcomes.items()))
    parts = ["", "meanwhile:", f"  inputs: {shown or 'none'}"]
    parts.append(
        f"  commands under keys: {told} ended, {len(ran) - told} other answers"
    )
    parts.append(f"  sessions: {began}")
    parts += [
        f"  {verb}: {count} {'done' if done else 'refused or failed'}"
        for (verb, done), count in sorted(acts.items())
    ]
    return parts


def _verdicts(found: dict[str, list[str]]) -> list[str]:
    parts = ["", "checked:"]
    for name, wrong in found.items():
        parts.append(f"  {'BROKEN' if wrong else 'holds '}  {name}")
        parts += [f"          {text}" for text in wrong[:FEW]]
        if len(wrong) > FEW:
            parts.append(f"          and {len(wrong) - FEW} more")
    parts.append("")
    return parts
