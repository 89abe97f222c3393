"""What changes if one policy replaces another, and whether it is looser.

What `gate apply` says before it asks. A rule is known by its name. Whether another
wording of the same rule is milder is not for a program to say: it is listed as
changed, and the difference of the texts is shown beside it.

Invariant, checked by tests/core/policy/test_changes.py:

I1  Two policies that judge differently differ in some change that is listed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.core.policy.policy import Policy
from holdfast.core.policy.rules import Rule, Undecidable
from holdfast.model.actors import ActorKind
from holdfast.model.verdicts import STRICTNESS, Verdict

_ORDER = {Undecidable.PASS: 0, Undecidable.ASK: 1, Undecidable.DENY: 2}


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One thing that changes; `loosens` if more may happen than before."""

    what: str
    loosens: bool = False


def policy_changes(old: Policy, new: Policy) -> list[PolicyChange]:
    """Return everything that changes, what loosens first."""
    found = [
        *_rule_changes(_by_name(old), _by_name(new)),
        *_kind_changes(old, new),
        *_other_changes(old, new),
    ]
    return sorted(found, key=lambda one: not one.loosens)


def _rule_changes(
    old: Mapping[str, Rule], new: Mapping[str, Rule]
) -> Iterator[PolicyChange]:
    for name, rule in new.items():
        was = old.get(name)
        if was is None:
            loosens = rule.verdict is Verdict.ALLOW
            yield PolicyChange(f"rule {name} added ({rule.verdict.value})", loosens)
        elif was.verdict is not rule.verdict:
            loosens = STRICTNESS[rule.verdict] < STRICTNESS[was.verdict]
            told = f"{was.verdict.value} becomes {rule.verdict.value}"
            yield PolicyChange(f"rule {name}: {told}", loosens)
        elif was != rule:
            yield PolicyChange(f"rule {name} changed ({rule.verdict.value})")
    for name, rule in old.items():
        if name not in new:
            loosens = rule.verdict is not Verdict.ALLOW
            yield PolicyChange(f"rule {name} removed ({rule.verdict.value})", loosens)


def _kind_changes(old: Policy, new: Policy) -> Iterator[PolicyChange]:
    for kind in ActorKind:
        before, after = old.default[kind], new.default[kind]
        if before is not after:
            loosens = STRICTNESS[after] < STRICTNESS[before]
            told = f"{before.value} becomes {after.value}"
            yield PolicyChange(f"default of {kind}: {told}", loosens)
        was, now = old.when_undecidable(kind), new.when_undecidable(kind)
        if was is not now:
            told = f"{was.value} becomes {now.value}"
            yield PolicyChange(
                f"undecidable, {kind}: {told}", _ORDER[now] < _ORDER[was]
            )
        low, high = (
            STRICTNESS[one.autonomy.get(kind, Verdict.DENY)] for one in (old, new)
        )
        if old.autonomy.get(kind) != new.autonomy.get(kind):
            top = new.autonomy.get(kind)
            told = "no autonomy" if top is None else f"autonomy up to {top.value}"
            yield PolicyChange(f"{told} for {kind}", high < low)
        if old.budgets.get(kind) != new.budgets.get(kind):
            yield PolicyChange(f"budget of {kind} changed", kind not in new.budgets)


def _other_changes(old: Policy, new: Policy) -> Iterator[PolicyChange]:
    for name in new.plugins:
        if name not in old.plugins:
            yield PolicyChange(f"plug-in {name} is asked")
    for name in old.plugins:
        if name not in new.plugins:
            yield PolicyChange(f"plug-in {name} is no longer asked", loosens=True)
    if old.webhook != new.webhook:
        loosens = old.webhook is not None
        where = "none" if new.webhook is None else new.webhook.url
        yield PolicyChange(f"webhook: {where}", loosens)
    if old.turn != new.turn:
        yield PolicyChange("rules about turns changed")


def _by_name(policy: Policy) -> dict[str, Rule]:
    return {rule.name: rule for rule in policy.rules}
