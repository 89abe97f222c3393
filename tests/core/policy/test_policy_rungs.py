"""What a rung makes of a judgement: a default milder, and a rule never."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.policy_world import ANN, BOT, policy, question

from holdfast.core.policy.policy import Policy, judge
from holdfast.model.policy_questions import Execution
from holdfast.model.resolutions import Link, Resolution, Resolved, Sort
from holdfast.model.verdicts import STRICTNESS, Verdict

TOP = '[default]\nagent = "ask"\n[autonomy]\nagent = "allow"\n'
RULE = '[[rule]]\nname = "mine"\nverdict = "{}"\nfirst = "make"\n'
MAKE, LS = "/usr/bin/make test", "/usr/bin/ls"


def on(text: str, **rungs: Verdict) -> Policy:
    known = {"make": MAKE, "ls": LS}
    return replace(
        policy(text), rungs={(BOT.id, known[name]): one for name, one in rungs.items()}
    )


def said(judging: Policy, line: str, *programs: str) -> tuple[str, str]:
    commands = tuple(
        Resolved((Link(Sort.PROGRAM, f"/usr/bin/{name}"),)) for name in programs
    )
    asked = replace(question(line.encode()), resolution=Resolution(commands))
    found = judge(judging, asked)
    return found.verdict.value, found.rule


@pytest.mark.parametrize("rung", Verdict)
def test_a_rung_takes_the_place_of_the_default(rung: Verdict) -> None:
    judging = on(TOP, make=rung)

    assert said(judging, "make test", "make") == (rung.value, "autonomy")
    assert said(judging, "make clean", "make") == ("ask", "default-agent")


@pytest.mark.parametrize("verdict", ["deny", "ask", "preview"])
def test_a_rule_stands_whatever_was_earned(verdict: str) -> None:
    judging = on(TOP + RULE.format(verdict), make=Verdict.ALLOW)

    assert said(judging, "make test", "make") == (verdict, "mine")


def test_a_rung_can_be_stricter_than_a_rule_that_allows() -> None:
    judging = on(TOP + RULE.format("allow"), make=Verdict.ASK)

    assert said(judging, "make test", "make") == ("ask", "autonomy")


def test_no_rung_is_higher_than_the_ceiling() -> None:
    low = TOP.replace('agent = "allow"', 'agent = "preview"')

    assert said(on(low, make=Verdict.ALLOW), "make test", "make")[0] == "preview"


def test_without_autonomy_in_the_policy_no_rung_counts() -> None:
    bare = '[default]\nagent = "ask"\n'

    assert said(on(bare, make=Verdict.ALLOW), "make test", "make")[0] == "ask"


def test_each_command_of_a_line_needs_a_rung_of_its_own() -> None:
    judging = on(TOP, make=Verdict.ALLOW, ls=Verdict.ALLOW)

    assert said(judging, "make test; ls", "make", "ls")[0] == "allow"
    assert said(judging, "make test; rm x", "make", "rm")[0] == "ask"


def test_a_rule_about_one_command_stands_in_a_line_of_several() -> None:
    judging = on(TOP + RULE.format("ask"), make=Verdict.ALLOW, ls=Verdict.ALLOW)

    assert said(judging, "ls; make test", "ls", "make") == ("ask", "mine")


def test_a_rung_is_one_operator_s() -> None:
    judging = replace(policy(TOP), rungs={(ANN.id, MAKE): Verdict.ALLOW})

    assert said(judging, "make test", "make")[0] == "ask"


def test_what_cannot_be_told_is_on_no_rung() -> None:
    judging = on(TOP, make=Verdict.ALLOW)

    assert judge(judging, question(b"make $(test)")).verdict is Verdict.ASK
    assert judge(judging, question(b"make test")).verdict is Verdict.ASK


def test_an_exec_is_on_the_rung_of_its_file() -> None:
    judging = on(TOP, make=Verdict.ALLOW)
    make = Execution("/usr/bin/make", "/usr/bin/make", ("make", "test"))
    other = Execution("/usr/bin/rm", "/usr/bin/rm", ("make", "test"))

    for execution, verdict in ((make, Verdict.ALLOW), (other, Verdict.ASK)):
        asked = replace(question(b""), execution=execution)
        assert judge(judging, asked).verdict is verdict


@given(
    st.lists(st.sampled_from(["deny", "ask", "preview", "allow"]), max_size=3),
    st.sampled_from(Verdict),
    st.sampled_from(Verdict),
    st.sampled_from(Verdict),
)
def test_a_rung_makes_nothing_milder_but_a_default_i7(
    rules: list[str], default: Verdict, ceiling: Verdict, rung: Verdict
) -> None:
    text = (
        f'[default]\nagent = "{default.value}"\n[autonomy]\nagent = "{ceiling.value}"\n'
    )
    for number, verdict in enumerate(rules):
        text += RULE.format(verdict).replace("mine", f"r{number}")
    without = said(policy(text), "make test", "make")
    climbed = said(on(text, make=rung), "make test", "make")
    milder = STRICTNESS[Verdict(climbed[0])] < STRICTNESS[Verdict(without[0])]

    if milder:
        assert without[1] == "default-agent"
        assert STRICTNESS[Verdict(climbed[0])] >= STRICTNESS[ceiling]
