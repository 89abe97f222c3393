from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.policy_world import ANN, BOT, question, said

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.policy_file import examine
from holdfast.core.policy.resolved import OriginatorIs, ResolvedPatterns
from holdfast.core.shell.globs import Globs
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, Question
from holdfast.model.resolutions import (
    Link,
    Resolution,
    Resolved,
    Sort,
    Staging,
    Thing,
)

RM = Link(Sort.PROGRAM, "/usr/bin/rm")
DEPLOY = Link(Sort.ALIAS, "deploy", text="rm -rf build")
BOTS_ALIAS = Staging(Thing.ALIAS, "deploy", (BOT.id,), 3)
STRANGER = actor_id(b"nobody knows")


def asked(*resolved: Resolved, **members: object) -> Question:
    given: dict[str, Any] = {
        "payload": b"deploy",
        "actor": ANN,
        "resolution": Resolution(resolved) if resolved else None,
        "originators": (BOT, ANN),
        **members,
    }
    return question(**given)


def answer(text: str, *resolved: Resolved, **members: object) -> tuple[str, str]:
    found = asked(*resolved, **members)
    names = ("actor", "resolution", "originators", "kind", "execution")
    given = {name: getattr(found, name) for name in names}
    return said(text, found.payload, **given)


def rule(keys: str, verdict: str = "ask", human: str = "ask") -> str:
    return (
        f'[undecidable]\nhuman = "{human}"\n'
        f'[[rule]]\nname = "r"\nverdict = "{verdict}"\n{keys}\n'
    )


ASK, DEFAULT, OPEN = ("ask", "r"), ("allow", "default-human"), ("ask", "undecidable")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('originator = "other"', ASK),
        ('originator = "self"', DEFAULT),
        ('originator = "bot"', ASK),
        ('originator = "!bot"', DEFAULT),
        (f'originator = "{BOT.id}"', ASK),
        ('originator = ["self", "bot"]', ASK),
        ('originator = "ann"', DEFAULT),
        ('originator_kind = "agent"', ASK),
        ('originator_kind = "human"', DEFAULT),
        ('originator = "other"\noriginator_kind = "service"', DEFAULT),
        ('staged = "alias"', ASK),
        ('staged = ["file", "line"]', DEFAULT),
        ('originator = "other"\nstaged = "alias"', ASK),
        ('resolves = "alias"', ASK),
        ('resolves = ["function", "builtin"]', DEFAULT),
        ('program = "/usr/bin/*"', ASK),
        ('program = "/opt/*"', DEFAULT),
        ('first = "deploy"\nprogram = "*/rm"', ASK),
        ('first = "other"\nprogram = "*/rm"', DEFAULT),
    ],
)
def test_a_rule_that_prevents_fits_if_something_does(
    keys: str, expected: tuple[str, str]
) -> None:
    found = Resolved((DEPLOY, RM), (BOTS_ALIAS,))

    assert answer(rule(keys), found) == expected


@pytest.mark.parametrize(
    ("keys", "is_allowed"),
    [
        ('resolves = ["alias", "program"]', True),
        ('resolves = "program"', False),
        ('program = "/usr/bin/*"', True),
        ('program = "/opt/*"', False),
        ('originator = "other"', True),
        ('originator = "self"', False),
        ('originator_kind = "agent"', True),
        ('staged = "line"', True),
    ],
)
def test_a_rule_that_allows_fits_only_if_everything_does(
    keys: str, *, is_allowed: bool
) -> None:
    text = rule(keys, "allow") + '[default]\nhuman = "deny"\n'

    verdict, _ = answer(text, Resolved((DEPLOY, RM), (BOTS_ALIAS,)))

    assert verdict == ("allow" if is_allowed else "deny")


@pytest.mark.parametrize("keys", ['program = "*"', 'resolves = "program"'])
def test_a_command_that_runs_no_program_is_not_allowed_as_one(keys: str) -> None:
    text = rule(keys, "allow") + '[default]\nhuman = "deny"\n'

    assert answer(text, Resolved())[0] == "deny"


@pytest.mark.parametrize(
    "keys", ['originator = "other"', 'resolves = "function"', 'program = "/opt/*"']
)
def test_i1_what_is_in_doubt_is_undecidable(keys: str) -> None:
    found = Resolved(doubt="nobody knows")

    assert answer(rule(keys, "ask"), found) == OPEN
    assert answer(rule(keys, "ask")) == OPEN


def test_what_is_in_doubt_passes_for_humans_unless_the_file_says_otherwise() -> None:
    text = rule('originator = "other"', human="pass")

    assert answer(text, Resolved(doubt="nobody knows")) == DEFAULT
    assert answer(text) == DEFAULT


def test_what_is_surely_staged_fits_whatever_else_is_in_doubt() -> None:
    found = Resolved((DEPLOY,), (BOTS_ALIAS,), doubt="what follows")

    assert answer(rule('originator_kind = "agent"', human="pass"), found) == ASK


def test_an_originator_that_is_not_sure_is_undecidable() -> None:
    unsure = Staging(Thing.ALIAS, "x", (ANN.id,), 3, is_known=False)
    text = rule('originator = "self"', "allow") + '[default]\nhuman = "deny"\n'

    assert answer(rule('originator = "other"'), Resolved((RM,), (unsure,))) == OPEN
    assert answer(text, Resolved((RM,), (unsure,)))[1] == "undecidable"


def test_a_stranger_counts_as_an_agent() -> None:
    staged = Staging(Thing.LINE, "rm", (STRANGER,))

    assert answer(rule('originator_kind = "agent"'), Resolved((RM,), (staged,))) == ASK


def test_each_command_of_a_line_is_judged_by_itself() -> None:
    clean, staged = Resolved((RM,)), Resolved((DEPLOY, RM), (BOTS_ALIAS,))
    text = rule('first = "rm"\noriginator = "other"')

    assert answer(text, clean, staged, payload=b"rm x; deploy") == DEFAULT
    assert answer(text, staged, clean, payload=b"rm x; deploy") == ASK


def test_a_resolution_of_another_line_counts_for_nothing() -> None:
    text = rule('originator = "other"')

    assert answer(text, Resolved(), Resolved(), payload=b"deploy") == OPEN


def test_a_signal_is_no_line() -> None:
    members = {"kind": InputKind.SIGNAL, "payload": b"2"}

    assert answer(rule('resolves = "program"'), Resolved((RM,)), **members) == DEFAULT


@pytest.mark.parametrize("human", ["ask", "pass"])
def test_of_an_exec_it_is_known_what_runs_and_nothing_else(human: str) -> None:
    execution = Execution("/usr/bin/rm", "/usr/bin/rm", ("rm",))
    program = rule('program = "/usr/bin/rm"', human=human)
    others = rule('originator = "other"', human=human)

    assert answer(program, execution=execution) == ASK
    assert answer(others, execution=execution) == DEFAULT


@pytest.mark.parametrize(
    "keys",
    [
        'resolves = "macro"',
        "resolves = []",
        'staged = "coffee"',
        'originator_kind = "person"',
        "originator = 5",
        'originator = "x\\u0007"',
        'program = "/usr bin/*"',
    ],
)
def test_what_makes_no_sense_is_refused(keys: str) -> None:
    policy, problems = examine(rule(keys).encode())

    assert policy is None
    assert keys.partition(" ")[0] in problems[0].where


stagings = st.lists(
    st.builds(
        Staging,
        st.sampled_from(list(Thing)),
        st.just("x"),
        st.lists(st.sampled_from([ANN.id, BOT.id, STRANGER]), max_size=2).map(tuple),
        is_known=st.booleans(),
    ),
    max_size=4,
)
patterns = st.builds(
    ResolvedPatterns,
    st.frozensets(st.sampled_from(list(Sort)), max_size=2),
    st.sampled_from([None, Globs.of(["/usr/*"])]),
    st.sampled_from([None, OriginatorIs(frozenset({"other"}), None)]),
    st.frozensets(st.sampled_from(list(ActorKind)), max_size=2),
    st.frozensets(st.sampled_from(list(Thing)), max_size=2),
)


@given(patterns, stagings, st.sampled_from(["", "unknown"]))
def test_i2_one_more_thing_staged_frees_nobody(
    wanted: ResolvedPatterns, staged: list[Staging], doubt: str
) -> None:
    whole = Resolved((DEPLOY, RM), tuple(staged), doubt)
    less = Resolved((DEPLOY, RM), tuple(staged[:-1]), doubt)
    now = asked(whole)

    if wanted.allowing(less, now) is Match.NO:
        assert wanted.allowing(whole, now) is Match.NO
    if wanted.preventing(less, now) is Match.YES:
        assert wanted.preventing(whole, now) is Match.YES


@given(patterns, stagings)
def test_i1_a_doubt_is_never_decided_for_the_actor(
    wanted: ResolvedPatterns, staged: list[Staging]
) -> None:
    doubtful = Resolved((DEPLOY, RM), tuple(staged), "unknown")
    now = asked(doubtful)

    for one in (doubtful, None):
        assert wanted.allowing(one, now) is not Match.YES
        assert wanted.preventing(one, now) is not Match.NO


def test_a_name_is_no_id() -> None:
    assert not OriginatorIs(frozenset(), None).fit(BOT, ActorId("a_x"))
