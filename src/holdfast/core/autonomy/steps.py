"""Which step on the ladder the figures speak for.

Theory of operation
-------------------
Only acts count that were judged since the last step of their kind of action: of those
the figures answer two questions about one rate, TARGET, the share of clean acts.

    surely above it (its interval lies above)    the next rung is proposed
    surely below it (its interval lies below)    one step back, at once
    neither                                      nothing

For the first step the rung is what was said about the newest of those acts.
That is the hysteresis: between the two nothing moves, and after a step the count starts
again. At *allow* nobody looks any more, so one unintended effect is enough there. From
*deny* nothing can be measured: WELL_FORMED requests are enough to propose that a human
is asked about each.

Which acts were judged since a step is told by no clock: an input names the digest of
the policy that judged it, every step makes another one, and the host's logbook has
their order.

Invariants, each checked by tests/core/autonomy/test_steps_properties.py:

I1  A step goes from one rung to a neighbouring one; what is proposed goes up, and what
    is demanded goes down.
I2  Acts of one operator and one kind never move a rung of another.
I3  Neither a kind that cannot be told nor a rung above the policy's ceiling is
    proposed, nor anything that a rule of the policy decides about.
I4  No figures both propose a step and demand one back.
"""

from collections.abc import Iterable, Mapping

from holdfast.core.autonomy.figures import Counts, Figures, Score
from holdfast.core.autonomy.ladder import MAX_RUNGS, RUNGS, Key, Ladder, Step, is_kind
from holdfast.core.autonomy.trace import Act
from holdfast.core.policy.policy import AUTONOMY
from holdfast.model.verdicts import Verdict, verdict_from

TARGET = 0.9
"""The share of clean acts that a rung is earned with, or lost without: with 35 of 35
it is surely higher, with 1 of 3 surely lower."""

AT_LEAST = 3
"""Acts before a step back: one command that fails is no bad score."""

WELL_FORMED = 5
"""Requests that were denied, before it is proposed to ask a human about each."""

DEFAULT = "default-"
"""How the name of a policy's default begins."""


def standing(ladder: Ladder, key: Key, figures: Figures) -> Verdict | None:
    """Return where a kind of action stands: on a rung, or where the policy put it.

    None if that cannot be told, or nothing can be earned for it.
    """
    is_new = key not in ladder.rungs
    if not is_kind(key[1]) or (is_new and len(ladder.rungs) >= MAX_RUNGS):
        return None
    return verdict_from(figures.verdict) if is_new else ladder.rungs[key]


def proposed(
    score: Score, ladder: Ladder, ceilings: Mapping[str, Verdict]
) -> Step | None:
    """Return the step up that the figures speak for most, or None.

    `ceilings` has the highest rung of each operator who may climb at all.
    """
    found: list[tuple[tuple[float, int, str], Step]] = []
    for key, figures in sorted(score.kinds.items()):
        ceiling, before = ceilings.get(key[0]), standing(ladder, key, figures)
        if ceiling is None or before is None or not _is_free(ladder, key, figures):
            continue
        step = _up(key, before, figures)
        if step is not None and RUNGS.index(step.after) <= RUNGS.index(ceiling):
            low = figures.cleanness.interval[0]
            found.append(((-low, -figures.acts, key[1]), step))
    return min(found, key=lambda one: one[0])[1] if found else None


def retreats(
    score: Score, ladder: Ladder, ceilings: Mapping[str, Verdict]
) -> tuple[Step, ...]:
    """Return every step back that the figures demand, one for each kind of action.

    Only what was stepped on can be taken back: what the policy says is its own.
    """
    found = []
    for key, before in sorted(ladder.rungs.items()):
        figures = score.kinds.get(key)
        if key[0] not in ceilings or before is Verdict.DENY or figures is None:
            continue
        why = _against(before, figures)
        if why:
            found.append(Step(*key, before, RUNGS[RUNGS.index(before) - 1], why))
    return tuple(found)


def since_last_step(
    entries: Iterable[tuple[Key | None, str]], short: int
) -> dict[Key, frozenset[str]]:
    """Return, for each kind that was stepped, the policies in force since its last.

    `entries` are those of the host's book, in order: what was stepped in it, if
    anything, and the digest of the policy that holds after it, of which inputs name
    the first `short` digits.
    """
    found: dict[Key, set[str]] = {}
    for key, digest in entries:
        if key is not None:
            found[key] = set()
        for known in found.values():
            known.add(digest[:short])
    return {key: frozenset(known) for key, known in found.items()}


def counting(since: Mapping[Key, frozenset[str]]) -> Counts:
    """Return which acts count: those judged since the last step of their kind."""

    def counts(act: Act, kind: str) -> bool:
        known = since.get((act.actor, kind))
        return known is None or act.policy in known

    return counts


def _is_free(ladder: Ladder, key: Key, figures: Figures) -> bool:
    """Tell whether no rule of the policy decides about a kind of action."""
    is_default = figures.rule.startswith(DEFAULT)
    return is_default or (key in ladder.rungs and figures.rule == AUTONOMY)


def _up(key: Key, before: Verdict, figures: Figures) -> Step | None:
    if before is Verdict.ALLOW or _against(before, figures):
        return None
    after = RUNGS[RUNGS.index(before) + 1]
    if before is Verdict.DENY:
        well = figures.acts - figures.invalid
        if well < WELL_FORMED:
            return None
        why = f"{well} requests were well-formed, and all were denied by the policy"
        return Step(*key, before, after, why)
    if figures.cleanness.interval[0] < TARGET or figures.unintended or figures.seized:
        return None
    return Step(*key, before, after, _shown(figures))


def _against(rung: Verdict, figures: Figures) -> str:
    """Return what speaks for a step back; empty if nothing does."""
    if rung is Verdict.ALLOW and figures.unintended:
        return f"{figures.unintended} unintended effects, and nobody is asked"
    is_early = figures.cleanness.of < AT_LEAST
    if is_early or figures.cleanness.interval[1] >= TARGET:
        return ""
    return _shown(figures)


def _shown(figures: Figures) -> str:
    low, high = figures.cleanness.interval
    of = figures.clean + figures.unclean
    return (
        f"{figures.clean} of {of} acts were clean"
        f" (95 %: {low:.2f} to {high:.2f}; the target is {TARGET})"
    )
