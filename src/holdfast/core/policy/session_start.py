"""Whether an operator may start a session.

Theory of operation
-------------------
The command of a new session is an input of the kind `start`: who asks for it needs
the right `create`, and then the policy judges its words like any other's.

    the right                          what the policy may say
    held                               anything; the default of the kind counts
    of the kind's, and nobody spoke    only what a rule says that names starts
    promised, but not this one         nothing: it is denied

A rule that allows `ls` was written for what is typed into a session that someone
else began. So where the right is missing, only rules with `input = "start"` can
allow a start, or have it asked about; rules that deny count always.

In a session with an exec gate the same words are the first exec, and what rules
say about that counts as well, unless it is milder. So do the interpreters that the
kernel executes in the place of a script: each is judged as at any other exec.

Invariants, checked by tests/core/policy/test_session_start.py:

I1  Without the right nothing is allowed or asked about but by a rule that names
    starts, whatever the defaults are.
I2  Who was promised other rights starts nothing, whatever the rules are.
I3  No rule makes a start milder by being about execs.
I4  With an exec gate no start is milder than any of its interpreters.
"""

from collections.abc import Iterable
from dataclasses import replace

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.conditions import OneOf
from holdfast.core.policy.policy import Judgement, Policy, explain, judge, strictest
from holdfast.core.policy.rules import Rule
from holdfast.model.envelopes import Standing
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, Question
from holdfast.model.verdicts import Verdict

NO_RIGHT = "no-right-to-create"
"""The rule that is named when nobody has let this operator start anything."""

RIGHT_TO_MOVE = "right-to-move"
"""The rule that is named when a host may bring sessions, and nothing else is said."""

_BARRED = "it was promised other rights; an invitation has to name `create`"
_UNSPOKEN = (
    'it lacks the right `create`, and no rule with input = "start" is about this'
    " session and command"
)


def judge_start(
    policy: Policy,
    question: Question,
    standing: Standing,
    *,
    is_gated: bool,
    further: Iterable[Execution] = (),
    is_brought: bool = False,
) -> Judgement:
    """Return the verdict of the rules about a session that is to be started.

    `is_brought` says that it was moved here by a host that may: its right stands in for
    the default, and no rule is passed over.

    `further` is what the kernel executes in the place of its program, if it has an
    exec gate.
    """
    said = [_judged(policy, question, standing)]
    if is_brought and standing is Standing.ENTITLED and said[0].by_default:
        said = [Judgement(Verdict.ALLOW, RIGHT_TO_MOVE)]
    if is_gated:
        exec_of = replace(question, kind=InputKind.COMMAND)
        executed = judge(policy, exec_of)
        if executed.verdict is not Verdict.ALLOW and not executed.by_default:
            said.append(executed)
        for one in further:
            step = replace(exec_of, execution=one, resolution=None)
            said.append(judge(policy, step))
    return strictest(said)


def _judged(policy: Policy, question: Question, standing: Standing) -> Judgement:
    if standing is Standing.ENTITLED:
        return judge(policy, question)
    if standing is Standing.BARRED:
        return Judgement(Verdict.DENY, NO_RIGHT, _BARRED)
    rules = [rule for rule in policy.rules if _speaks(rule)]
    denying = [rule for rule in policy.rules if rule.verdict is Verdict.DENY]
    kind = question.actor.kind
    narrow = replace(
        policy,
        rules=(*rules, *denying),
        default={**policy.default, kind: Verdict.DENY},
    )
    found = explain(narrow, question)[: len(rules)]
    if all(one.match is Match.NO for one in found):
        return Judgement(Verdict.DENY, NO_RIGHT, _UNSPOKEN)
    return judge(narrow, question)


def _speaks(rule: Rule) -> bool:
    """Tell whether a rule may stand in for the right: it names starts."""
    names_starts = any(
        one.key == "input" and InputKind.START in one.values
        for one in rule.conditions
        if isinstance(one, OneOf)
    )
    return names_starts and rule.verdict is not Verdict.DENY
