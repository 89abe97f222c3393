"""What came of each clause."""

import enum
from dataclasses import dataclass


class Verdict(enum.StrEnum):
    """What came of a clause; what could not be tried has not passed."""

    PASS = "pass"  # noqa: S105  # no password
    FAIL = "fail"
    NOT_TRIED = "not-tried"


class Broken(Exception):
    """The subject did what the clause forbids, or not what it demands."""


class NotTried(Exception):
    """The clause cannot be tried on this subject."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one clause."""

    section: str
    name: str
    clause: str
    verdict: Verdict
    seen: str
    seconds: float
