import pytest

from holdfast.core.policy.conditions import OneOf
from holdfast.core.policy.rules import Rule
from holdfast.model.policy_questions import Place
from holdfast.model.verdicts import Verdict

AT_EXEC = OneOf("at", frozenset({Place.EXEC}))


@pytest.mark.parametrize(
    ("rule", "is_about_execs"),
    [
        (Rule("a", Verdict.DENY, conditions=(AT_EXEC,)), True),
        (Rule("a", Verdict.ASK, conditions=(AT_EXEC,)), True),
        (Rule("a", Verdict.ALLOW, conditions=(AT_EXEC,)), False),
        (Rule("a", Verdict.DENY), False),
    ],
)
def test_a_rule_that_holds_back_execs_needs_somebody_who_judges_them(
    rule: Rule, *, is_about_execs: bool
) -> None:
    assert rule.is_about_execs is is_about_execs
