"""What was seen in a failure mode, and the verdict on it.

    failed       a check failed, or the injection broke off
    unavailable  nothing could be checked on this machine
    partly       what could be checked holds, and something could not be
    passed       everything was checked, and holds

A mode without any check has proven nothing, and counts as failed.
"""

import enum
from dataclasses import dataclass, field

from holdfast.verify.mode import Mode

Evidence = dict[str, str | int | float | bool | None]
"""What a check has seen, by name: pids, offsets, epochs, times."""


class Outcome(enum.StrEnum):
    """What became of one check."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNAVAILABLE = "unavailable"


class Verdict(enum.StrEnum):
    """What all checks of a mode together say."""

    PASSED = "passed"
    PARTLY = "partly"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be so, and what was seen of it."""

    what: str
    outcome: Outcome
    why: str = ""
    evidence: Evidence = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """Everything that was seen in one failure mode."""

    mode: Mode
    checks: tuple[Check, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return what the checks say together."""
        outcomes = {one.outcome for one in self.checks}
        if Outcome.BROKEN in outcomes or not outcomes:
            return Verdict.FAILED
        if outcomes == {Outcome.UNAVAILABLE}:
            return Verdict.UNAVAILABLE
        if Outcome.UNAVAILABLE in outcomes:
            return Verdict.PARTLY
        return Verdict.PASSED


@dataclass(frozen=True, slots=True)
class Control:
    """What another program did under one of the injections."""

    program: str
    injection: str
    survived: bool | None
    seen: str


@dataclass(frozen=True, slots=True)
class Report:
    """One run: where and when it was, and all that it found."""

    version: str
    system: str
    began: str
    seconds: float
    findings: tuple[Finding, ...]
    controls: tuple[Control, ...]

    @property
    def failed(self) -> bool:
        """Tell whether any mode failed."""
        return any(one.verdict is Verdict.FAILED for one in self.findings)

    def count(self, verdict: Verdict) -> int:
        """Return how many modes have this verdict."""
        return sum(one.verdict is verdict for one in self.findings)
