"""A rule of a policy."""

import enum
from dataclasses import dataclass

from holdfast.core.policy.command_words import WordPatterns
from holdfast.core.policy.conditions import Condition, Under
from holdfast.core.policy.file_access import FilePatterns
from holdfast.core.policy.resolved import ResolvedPatterns
from holdfast.model.verdicts import Verdict


class Undecidable(enum.StrEnum):
    """What becomes of an input that a rule about words cannot decide."""

    PASS = "pass"  # noqa: S105  # a word of the policy file
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: if everything it wants fits, its verdict counts."""

    name: str
    verdict: Verdict
    why: str = ""
    conditions: tuple[Condition, ...] = ()
    words: WordPatterns | None = None
    under: Under | None = None
    """Apart from the other conditions, because a `cd` in the line changes it."""

    resolved: ResolvedPatterns | None = None
    """What it wants of what the words run."""

    files: FilePatterns | None = None
    """What it wants of what the words reach."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where to ask over HTTP, and for how many seconds to wait."""

    url: str
    timeout: float
