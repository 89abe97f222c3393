from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_file import read_policy
from holdfast.core.policy.session_start import NO_RIGHT, RIGHT_TO_MOVE, judge_start
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.envelopes import Standing
from holdfast.model.ids import actor_id, session_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, LocalTime, Question
from holdfast.model.verdicts import Verdict

BOT = Actor(actor_id(b"bot"), ActorKind.AGENT, "bot")

RULES = (
    '[[rule]]\nname = "words"\nverdict = "allow"\nkind = "agent"\nfirst = "bash"\n',
    '[[rule]]\nname = "ask-words"\nverdict = "ask"\nkind = "agent"\nfirst = "ls"\n',
    '[[rule]]\nname = "all"\nverdict = "allow"\nkind = "agent"\n',
    '[[rule]]\nname = "keys"\nverdict = "allow"\ninput = "keys"\n',
    '[[rule]]\nname = "never"\nverdict = "deny"\nfirst = "mkfs"\n',
    '[[rule]]\nname = "exec"\nverdict = "allow"\nat = "exec"\n',
    '[default]\nagent = "allow"\n',
    '[undecidable]\nagent = "ask"\n',
)
"""None of these names starts."""

START = '[[rule]]\nname = "own"\nverdict = "allow"\ninput = "start"\nexact = "bash"\n'
ASKED = '[[rule]]\nname = "asked"\nverdict = "ask"\ninput = ["keys", "start"]\n'


def question(*words: str, variables: tuple[str, ...] = (), path: str = "") -> Question:
    where = path or f"/usr/bin/{words[0]}"
    return Question(
        actor=BOT,
        kind=InputKind.START,
        payload=b"cd / && " + " ".join(words).encode(),
        session=session_id(bytes(10)),
        session_name="agent-1",
        clock=LocalTime(720, 0),
        cwd="/",
        staged=b"",
        execution=Execution(where, where, words, variables=variables),
    )


def policy(*texts: str) -> Policy:
    # Tables come before rules of no table, in any order of theirs.
    return read_policy("\n".join(sorted(texts, reverse=True)).encode())


def said(
    text: str,
    asked: Question,
    standing: Standing = Standing.UNSPOKEN,
    *,
    is_gated: bool = False,
) -> tuple[Verdict, str]:
    judged = judge_start(policy(text), asked, standing, is_gated=is_gated)
    return judged.verdict, judged.rule


@given(
    st.lists(st.sampled_from(RULES), unique=True),
    st.sampled_from([("bash",), ("ls", "-l"), ("sh", "-c", "x"), ("mkfs",)]),
    st.sampled_from([(), ("LD_PRELOAD=/x",)]),
    st.booleans(),
)
def test_i1_without_the_right_nothing_stands_in_but_a_rule_that_names_starts(
    texts: list[str],
    words: tuple[str, ...],
    variables: tuple[str, ...],
    is_gated: bool,  # noqa: FBT001  # drawn
) -> None:
    asked = question(*words, variables=variables)

    judged = judge_start(policy(*texts), asked, Standing.UNSPOKEN, is_gated=is_gated)

    assert judged.verdict is Verdict.DENY
    assert not judged.by_default


@given(st.lists(st.sampled_from([*RULES, START, ASKED]), unique=True))
def test_i2_who_was_promised_other_rights_starts_nothing(texts: list[str]) -> None:
    judged = judge_start(
        policy(*texts), question("bash"), Standing.BARRED, is_gated=False
    )

    assert (judged.verdict, judged.rule) == (Verdict.DENY, NO_RIGHT)
    assert "invitation" in judged.why


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (START, ("bash",), (Verdict.ALLOW, "own")),
        (START, ("bash", "-c", "x"), (Verdict.DENY, NO_RIGHT)),
        (ASKED, ("anything",), (Verdict.ASK, "asked")),
        (START + RULES[4], ("mkfs",), (Verdict.DENY, NO_RIGHT)),
        (ASKED + RULES[4], ("mkfs",), (Verdict.DENY, "never")),
        (RULES[6] + START, ("ls",), (Verdict.DENY, NO_RIGHT)),
        ("", ("bash",), (Verdict.DENY, NO_RIGHT)),
        (START + 'kind = "agent"\n', ("bash",), (Verdict.ALLOW, "own")),
        (START.replace("allow", "deny"), ("bash",), (Verdict.DENY, NO_RIGHT)),
    ],
)
def test_a_rule_that_names_starts_stands_in_for_the_right(
    text: str, words: tuple[str, ...], expected: tuple[Verdict, str]
) -> None:
    assert said(text, question(*words)) == expected


def test_what_a_rule_cannot_tell_is_asked_about_also_if_the_default_allows() -> None:
    asked = question("bash", variables=("LD_PRELOAD=/tmp/x.so",))

    assert said(RULES[6] + START, asked) == (Verdict.ASK, "undecidable")


def test_a_file_of_that_name_elsewhere_is_not_what_a_rule_allows() -> None:
    asked = question("bash", path="/tmp/evil/bash")  # noqa: S108  # a name

    assert said(START, asked) == (Verdict.DENY, NO_RIGHT)


def test_with_the_right_the_policy_decides_as_about_anything_else() -> None:
    entitled = Standing.ENTITLED

    assert said("", question("ls"), entitled) == (Verdict.DENY, "default-agent")
    assert said(RULES[0], question("bash"), entitled) == (Verdict.ALLOW, "words")
    human = Actor(actor_id(b"ada"), ActorKind.HUMAN, "ada")
    asked = replace(question("ls"), actor=human)
    assert said("", asked, entitled) == (Verdict.ALLOW, "default-human")


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("deny", (Verdict.DENY, "gate")),
        ("ask", (Verdict.ASK, "gate")),
        ("allow", (Verdict.ALLOW, "own")),
    ],
)
def test_i3_where_execs_are_judged_the_first_is_as_well_and_never_milder(
    verdict: str, expected: tuple[Verdict, str]
) -> None:
    gate = f'[[rule]]\nname = "gate"\nverdict = "{verdict}"\nat = "exec"\n'

    assert said(START + gate, question("bash"), is_gated=True) == expected
    assert said(START + gate, question("bash")) == (Verdict.ALLOW, "own")
    assert said(gate, question("bash"), is_gated=True)[0] is Verdict.DENY


@pytest.mark.parametrize("verdict", [Verdict.ASK, Verdict.DENY])
def test_i4_an_interpreter_of_the_first_program_is_judged_too(verdict: Verdict) -> None:
    rule = f'[[rule]]\nname = "no"\nverdict = "{verdict}"\nat = "exec"\nfirst = "sh"\n'
    shell = Execution("/bin/sh", "/bin/sh", ("/bin/sh", "/x"))
    harmless = Execution("/bin/cat", "/bin/cat", ("/bin/cat", "/x"))
    asked, allowed = (
        question("bash"),
        policy(START, rule, '[default]\nagent = "allow"\n'),
    )

    def judged(*further: Execution, gated: bool = True) -> Verdict:
        standing = Standing.UNSPOKEN
        return judge_start(
            allowed, asked, standing, is_gated=gated, further=further
        ).verdict

    assert judged(harmless, shell) is verdict
    assert judged(harmless) is Verdict.ALLOW
    assert judged(shell, gated=False) is Verdict.ALLOW


def test_a_host_that_may_bring_a_session_needs_no_rule_and_passes_over_none() -> None:
    def brought(text: str, standing: Standing = Standing.ENTITLED) -> str:
        asked = question("mkfs")
        judged = judge_start(
            policy(text), asked, standing, is_gated=False, is_brought=True
        )
        return judged.rule

    assert brought("") == RIGHT_TO_MOVE
    assert brought(RULES[4]) == "never"
    assert brought("", Standing.BARRED) == NO_RIGHT
    assert said("", question("mkfs"), Standing.ENTITLED)[1] == "default-agent"
