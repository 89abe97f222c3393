"""A rule of a policy, and the rung that takes the place of its default."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.core.autonomy.action_kind import action_of
from holdfast.core.policy.command_words import WordPatterns
from holdfast.core.policy.conditions import Condition, OneOf, Under
from holdfast.core.policy.file_access import FilePatterns
from holdfast.core.policy.resolved import ResolvedPatterns
from holdfast.core.shell.simple_command import Command
from holdfast.model.actors import ActorKind
from holdfast.model.policy_questions import Place, Question
from holdfast.model.verdicts import STRICTNESS, Verdict


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

    @property
    def is_about_execs(self) -> bool:
        """Whether it holds something back that only an exec gate would judge."""
        only_execs = OneOf("at", frozenset({Place.EXEC}))
        return self.verdict is not Verdict.ALLOW and only_execs in self.conditions


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where to ask over HTTP, and for how many seconds to wait."""

    url: str
    timeout: float


def rung_of(
    ceilings: Mapping[ActorKind, Verdict],
    rungs: Mapping[tuple[str, str], Verdict],
    command: Command,
    question: Question,
) -> Verdict | None:
    """Return the rung that an operator stands on for a command; None for none."""
    ceiling = ceilings.get(question.actor.kind)
    rung = rungs.get((question.actor.id, action_of(command, question)))
    if ceiling is None or rung is None:
        return None
    return max(rung, ceiling, key=STRICTNESS.__getitem__)
