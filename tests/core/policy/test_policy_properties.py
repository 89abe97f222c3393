from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.core.policy_world import question

from holdfast.core.policy.command_words import Match, WordPatterns
from holdfast.core.policy.conditions import OneOf, Under
from holdfast.core.policy.meant_folders import MeantFolders
from holdfast.core.policy.policy import Policy, document, explain, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.core.policy.rules import Rule, Undecidable
from holdfast.core.shell.globs import Globs
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question, TurnHold
from holdfast.model.verdicts import STRICTNESS, Verdict

WORDS = ["rm", "ls", "sudo", "git", "push", "sh", "-c", "cd", "mk*", "*"]
SPECIAL = [" ", " ", ";", "|", "'", '"', "$X", "$(", ")", "`", "\\", "\x1b[A", "\r"]

globs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(Globs.of)
runs = st.lists(globs, min_size=1, max_size=2).map(tuple)
patterns = st.builds(
    WordPatterns,
    st.none() | globs,
    st.none() | globs,
    st.lists(runs, max_size=2).map(tuple),
    st.lists(runs, max_size=1).map(tuple),
)
conditions = st.lists(
    st.sampled_from(
        [
            OneOf("kind", frozenset({ActorKind.AGENT})),
            OneOf("kind", frozenset({ActorKind.HUMAN, ActorKind.SERVICE})),
            OneOf("input", frozenset({InputKind.KEYS, InputKind.COMMAND})),
        ]
    ),
    max_size=2,
).map(tuple)
rules = st.builds(
    Rule,
    st.sampled_from(["one", "two", "three"]),
    st.sampled_from(Verdict),
    st.just(""),
    conditions,
    st.none() | patterns,
    st.none() | st.just(Under(MeantFolders(("/src",), ()))),
)
policies = st.builds(
    Policy,
    st.lists(rules, max_size=5).map(tuple),
    st.fixed_dictionaries({kind: st.sampled_from(Verdict) for kind in ActorKind}),
    st.dictionaries(
        st.sampled_from([kind for kind in ActorKind if kind is not ActorKind.HUMAN]),
        st.sampled_from([Undecidable.ASK, Undecidable.DENY]),
    ),
)
payloads = st.binary(max_size=40) | st.lists(
    st.sampled_from([*WORDS, *SPECIAL]), max_size=8
).map(lambda parts: "".join(parts).encode())
questions = st.builds(
    Question,
    actor=st.builds(
        Actor, st.just(actor_id(b"k")), st.sampled_from(ActorKind), st.text(max_size=4)
    ),
    kind=st.sampled_from(InputKind),
    payload=payloads,
    session=st.just(question().session),
    session_name=st.text(max_size=4),
    clock=st.builds(LocalTime, st.integers(0, 1439), st.integers(0, 6)),
    turn=st.sampled_from(TurnHold),
    cwd=st.sampled_from([None, "/src", "/", "x"]),
    staged=st.none() | st.just(b"") | payloads,
    secret=st.booleans(),
    shell_reads=st.booleans(),
)


def strictness(policy: Policy, asked: Question) -> int:
    return STRICTNESS[judge(policy, asked).verdict]


@given(policies, questions)
def test_no_question_raises_anything_i2(policy: Policy, asked: Question) -> None:
    judge(policy, asked)
    document(asked)

    assert len(explain(policy, asked)) == len(policy.rules)


@given(policies, questions, st.randoms())
def test_the_order_of_rules_changes_no_verdict_i1(
    policy: Policy, asked: Question, chance: object
) -> None:
    shuffled = list(policy.rules)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]

    other = replace(policy, rules=tuple(shuffled))

    assert strictness(other, asked) == strictness(policy, asked)


def with_rule(policy: Policy, rule: Rule, verdict: Verdict) -> Policy:
    return replace(policy, rules=(*policy.rules, replace(rule, verdict=verdict)))


@given(policies, questions, rules)
def test_another_rule_that_denies_makes_nothing_milder_i3(
    policy: Policy, asked: Question, rule: Rule
) -> None:
    added = with_rule(policy, rule, Verdict.DENY)

    assert strictness(added, asked) >= strictness(policy, asked)


@given(policies, questions, rules, st.sampled_from([Verdict.ASK, Verdict.PREVIEW]))
def test_another_rule_that_asks_or_previews_makes_no_allow_i3(
    policy: Policy, asked: Question, rule: Rule, verdict: Verdict
) -> None:
    added = with_rule(policy, rule, verdict)

    assert strictness(added, asked) >= min(1, strictness(policy, asked))


@given(policies, questions)
def test_a_deny_rule_that_fits_denies_i1(policy: Policy, asked: Question) -> None:
    findings = explain(policy, asked)
    fitting = {one.verdict for one in findings if one.match is Match.YES}

    if Verdict.DENY in fitting:
        assert judge(policy, asked).verdict is Verdict.DENY
    elif Verdict.ASK in fitting:
        assert STRICTNESS[judge(policy, asked).verdict] >= STRICTNESS[Verdict.ASK]
    elif Verdict.PREVIEW in fitting:
        assert judge(policy, asked).verdict is not Verdict.ALLOW


@given(policies, questions)
def test_nothing_is_allowed_by_a_rule_of_which_nobody_can_tell_i5(
    policy: Policy, asked: Question
) -> None:
    judgement = judge(policy, asked)
    sure = [one for one in explain(policy, asked) if one.match is Match.YES]

    if judgement.verdict is Verdict.ALLOW and not judgement.by_default:
        assert judgement.rule in {one.rule for one in sure}


@given(policies, questions)
def test_no_rule_about_words_allows_what_another_reads_i6(
    policy: Policy, asked: Question
) -> None:
    overheard = replace(asked, shell_reads=False)
    judgement = judge(policy, overheard)

    for found in explain(policy, overheard):
        rule = next(one for one in policy.rules if one.name == found.rule)
        is_unique = [one.name for one in policy.rules].count(rule.name) == 1
        if is_unique and rule.words is not None and rule.verdict is Verdict.ALLOW:
            assert found.match is not Match.YES
            assert judgement.rule != rule.name
    if judgement.rule not in {one.name for one in policy.rules}:
        assert strictness(policy, overheard) >= strictness(policy, asked)


@given(questions)
def test_an_empty_file_is_an_empty_policy_i4(asked: Question) -> None:
    is_human = asked.actor.kind is ActorKind.HUMAN

    assert (judge(read_policy(b""), asked).verdict is Verdict.ALLOW) is is_human
