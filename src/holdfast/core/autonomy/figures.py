"""How an operator's acts came out, for each kind of action.

Theory of operation
-------------------
Figures are counts, and proportions of them with the interval in which the true value
lies with 95 % confidence (Wilson's): of three acts that all went well nobody knows
much, and the interval says so.

    validity    acts that came as far as the policy, of all
    success     commands that ended as expected, of those whose end is known
    clean       acts with nothing against them, of those of which that is known:
                no unintended effect, no failure, no denial by an operator, no seizure

A line of several commands says little of each of them: perhaps only one was executed.
What went wrong with it counts against every kind of action in it; what went well counts
for none.

Invariants, each checked by tests/core/autonomy/test_figures.py:

I1  No proportion leaves its interval, and every interval lies within 0 and 1.
I2  An act of one kind of action changes no count of another.
I3  What went well with a line of several kinds counts for none of them.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from holdfast.core.autonomy.effects import Effects
from holdfast.core.autonomy.trace import Act
from holdfast.model.verdicts import Verdict

_Z = 1.959963984540054
"""For 95 %."""

UNTOLD = "(cannot be told)"
"""What stands for the kind of a line that has none."""


Counts = Callable[[Act, str], bool]
"""Tells whether an act counts for a kind of action."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, and between which values the true rate lies."""

    good: int
    of: int

    @property
    def rate(self) -> float | None:
        """The proportion; None of nothing."""
        return self.good / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Between which values it lies, by Wilson's score, with 95 % confidence."""
        if not self.of:
            return 0.0, 1.0
        rate, square = self.good / self.of, _Z * _Z
        middle = rate + square / (2 * self.of)
        inner = rate * (1 - rate) / self.of + square / (4 * self.of * self.of)
        spread = _Z * math.sqrt(inner)
        whole = 1 + square / self.of
        # Rounding must not move it past what was counted.
        low = min(rate, max(0.0, (middle - spread) / whole))
        return low, max(rate, min(1.0, (middle + spread) / whole))


@dataclass(slots=True)
class Figures:
    """The counts of one operator and one kind of action."""

    acts: int = 0
    invalid: int = 0
    asked: int = 0
    """Held for approval, previewed or not."""

    approved: int = 0
    denied_by_operators: int = 0
    denied_by_policy: int = 0
    ran: int = 0
    succeeded: int = 0
    failed: int = 0
    matched: int = 0
    unintended: int = 0
    undecided: int = 0
    """Ran, and what it did was not compared with anything."""

    clean: int = 0
    unclean: int = 0
    seized: int = 0
    retried: int = 0
    durations: list[int] = field(default_factory=list)
    newest_ms: int = -1
    verdict: str = ""
    """What was said about the newest of them."""

    rule: str = ""
    """By which rule."""

    @property
    def validity(self) -> Proportion:
        """Acts that came as far as the policy."""
        return Proportion(self.acts - self.invalid, self.acts)

    @property
    def success(self) -> Proportion:
        """Commands that ended as expected."""
        return Proportion(self.succeeded, self.succeeded + self.failed)

    @property
    def cleanness(self) -> Proportion:
        """Acts with nothing against them."""
        return Proportion(self.clean, self.clean + self.unclean)

    @property
    def median_ms(self) -> int | None:
        """How long a command takes."""
        ordered = sorted(self.durations)
        return ordered[len(ordered) // 2] if ordered else None

    def add(self, act: Act) -> None:
        """Count an act of this one kind."""
        self._count(act, is_alone=True)

    def add_part(self, act: Act) -> None:
        """Count an act of several kinds: only what speaks against it."""
        self._count(act, is_alone=False)

    def _count(self, act: Act, *, is_alone: bool) -> None:
        succeeded, clean = act.has_succeeded, act.is_clean
        self.failed += succeeded is False
        self.unintended += act.effects is Effects.UNINTENDED
        self.unclean += clean is False
        self.seized += act.was_seized
        self.denied_by_operators += bool(act.denied_by)
        self.denied_by_policy += act.verdict == Verdict.DENY
        if act.verdict and act.at_wall_ms >= self.newest_ms:
            self.newest_ms = act.at_wall_ms
            self.verdict, self.rule = act.verdict, act.rule
        if not is_alone:
            return
        self.acts += 1
        self.invalid += not act.is_valid
        self.asked += act.verdict in (Verdict.ASK, Verdict.PREVIEW)
        self.approved += bool(act.approver)
        self.ran += act.has_run
        self.succeeded += succeeded is True
        self.matched += act.effects is Effects.MATCHED
        self.undecided += act.has_run and act.effects is Effects.UNDECIDED
        self.clean += clean is True
        self.retried += act.attempt > 1
        if act.has_ended:
            self.durations.append(act.duration_ms)


@dataclass(slots=True)
class Score:
    """The figures of all operators who were traced."""

    total: dict[str, Figures] = field(default_factory=dict)
    """By operator, all acts together."""

    kinds: dict[tuple[str, str], Figures] = field(default_factory=dict)
    """By operator and kind of action."""

    def add(self, act: Act, counts: Counts) -> None:
        """Count an act, for each of its kinds for which it counts."""
        self.total.setdefault(act.actor, Figures()).add(act)
        kinds = act.actions or (label_of(act),)
        for kind in kinds:
            if not counts(act, kind):
                continue
            figures = self.kinds.setdefault((act.actor, kind), Figures())
            if len(kinds) == 1:
                figures.add(act)
            else:
                figures.add_part(act)


def everything(_act: Act, _kind: str) -> bool:
    """Count every act."""
    return True


def scored(acts: Iterable[Act], counts: Counts = everything) -> Score:
    """Return the score of these acts."""
    score = Score()
    for act in acts:
        score.add(act, counts)
    return score


def label_of(act: Act) -> str:
    """Return what an act is listed under that has no kind of action.

    In brackets, as no program's path is: it earns nothing.
    """
    if act.input in ("command", "keys", "start") or act.code:
        return UNTOLD
    return f"({act.act or act.input or 'nothing'})"
