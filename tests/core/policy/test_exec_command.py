import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.exec_command import (
    all_names,
    commands_of,
    first_words,
    other_names,
)
from holdfast.core.policy.policy import (
    NO_EXEC_GATE,
    UNDECIDABLE,
    judge,
    without_exec_gate,
)
from holdfast.core.policy.policy_file import read_policy
from holdfast.core.shell.globs import MAX_TEXT
from holdfast.core.shell.line_reader import MAX_WORDS
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, LocalTime, Place, Question
from holdfast.model.verdicts import Verdict

POLICY = """
[default]
agent = "{default}"
[[rule]]
name = "no-rm"
verdict = "deny"
kind = "agent"
at = "exec"
first = "rm"
[[rule]]
name = "push"
verdict = "ask"
kind = "agent"
sequence = "git push"
[[rule]]
name = "list"
verdict = "allow"
kind = "agent"
first = ["ls", "/opt/tool", "busybox"]
"""
STRICT = read_policy(POLICY.format(default="deny").encode())
MILD = read_policy(POLICY.format(default="allow").encode())


def question(
    execution: Execution | None, kind: ActorKind = ActorKind.AGENT
) -> Question:
    return Question(
        actor=Actor(ActorId("a_bot"), kind, "bot"),
        kind=InputKind.COMMAND,
        payload=b"ls",
        session=SessionId("s_1"),
        session_name="build",
        clock=LocalTime(0, 0),
        cwd="/",
        staged=b"",
        execution=execution,
    )


def run(path: str, *words: str | None, real: str | None = "") -> Execution:
    return Execution(path, path if real == "" else real, words)


DENIED = {
    "its path": run("/bin/rm", "rm", "x"),
    "any folder": run("/home/rm", "rm", "x"),
    "a false name": run("/bin/rm", "ls", "x"),
    "the name it is told": run("/home/tool", "rm", "x"),
    "a link": run("/home/ls", "ls", "x", real="/usr/bin/rm"),
    "an applet": run("/bin/busybox", "busybox", "rm", "x"),
    "an applet by name": run("/bin/busybox", "rm", "x"),
    "the loader": run("/lib64/ld-linux-x86-64.so.2", "ld", "/bin/rm", "x"),
    "no words at all": run("/bin/rm"),
}


@pytest.mark.parametrize("execution", DENIED.values(), ids=DENIED)
def test_i2_a_rule_that_denies_finds_every_name(execution: Execution) -> None:
    assert judge(MILD, question(execution)).rule == "no-rm"


ALLOWED = {
    "a standard folder": run("/usr/bin/ls", "ls", "-l"),
    "the whole path": run("/opt/tool", "tool"),
    "a link of the machine": run("/usr/bin/ls", "ls", real="/usr/bin/coreutils"),
}


@pytest.mark.parametrize("execution", ALLOWED.values(), ids=ALLOWED)
def test_a_rule_that_allows_finds_the_program_by_its_path(execution: Execution) -> None:
    assert judge(STRICT, question(execution)).rule == "list"


NOT_ALLOWED = {
    "another folder": run("/home/ls", "ls"),
    "a false name": run("/home/tool", "ls"),
    "below a standard folder": run("/usr/bin/x/ls", "ls"),
    "a path with steps": run("/usr/bin/../../home/ls", "ls"),
}


@pytest.mark.parametrize("execution", NOT_ALLOWED.values(), ids=NOT_ALLOWED)
def test_a_rule_that_allows_is_not_fooled_by_a_name(execution: Execution) -> None:
    assert judge(STRICT, question(execution)).rule == "default-agent"


UNKNOWN = {
    "nothing": Execution(None, None, (None,)),
    "the file": run("/fuse/tool", "tool", real=None),
    "the name": run("/home/tool", None),
    "its files": Execution("/bin/ls", None, ("ls",), is_elsewhere=True),
}


@pytest.mark.parametrize("execution", UNKNOWN.values(), ids=UNKNOWN)
def test_i1_what_is_not_known_is_asked_about(execution: Execution) -> None:
    said = judge(MILD, question(execution))

    assert (said.verdict, said.rule) == (Verdict.ASK, UNDECIDABLE)


def test_what_is_not_known_of_a_human_s_exec_passes() -> None:
    rules = read_policy(b'[[rule]]\nverdict = "deny"\nfirst = "rm"\n')
    human = question(run("/fuse/tool", "tool", real=None), ActorKind.HUMAN)

    assert judge(rules, human).verdict is Verdict.ALLOW


def test_a_shell_that_hides_a_command_is_judged_as_the_shell_it_is() -> None:
    hidden = run("/bin/sh", "sh", "-c", "echo | xargs rm")

    assert judge(MILD, question(hidden)).rule == "default-agent"


def test_rules_without_a_place_hold_at_an_exec_too() -> None:
    pushed = run("/usr/bin/git", "git", "-C", "x", "push")

    assert judge(MILD, question(pushed)).rule == "push"


def test_a_rule_about_execs_says_nothing_about_an_input() -> None:
    typed = question(None)

    assert typed.place is Place.INPUT
    assert judge(MILD, typed).rule == "list"


def test_words_beyond_the_limit_are_unknown() -> None:
    many = run("/bin/x", "x", *["y"] * MAX_WORDS)
    long = run("/bin/x", "x", "y" * (MAX_TEXT + 1))

    assert commands_of(many)[0].words[-1] is None
    assert commands_of(long)[0].words[-1] is None


def test_words_up_to_the_limit_are_known() -> None:
    many = run("/bin/x", "x", *["y"] * (MAX_WORDS - 1))
    long = run("/bin/x", "x", "y" * MAX_TEXT)

    assert commands_of(many)[0].words == ("/bin/x", *["y"] * (MAX_WORDS - 1))
    assert commands_of(long)[0].words == ("/bin/x", "y" * MAX_TEXT)


def test_where_no_exec_is_judged_an_agent_is_told_which_rule_cannot_be_kept() -> None:
    said = without_exec_gate(MILD, question(None))

    assert said is not None
    assert (said.verdict, said.rule) == (Verdict.DENY, NO_EXEC_GATE)
    assert "no-rm" in said.why


def test_where_no_exec_is_judged_humans_go_on() -> None:
    assert without_exec_gate(MILD, question(None, ActorKind.HUMAN)) is None


def test_rules_that_only_allow_execs_need_no_gate() -> None:
    rules = read_policy(b'[[rule]]\nverdict = "allow"\nat = "exec"\n')

    assert without_exec_gate(rules, question(None)) is None


PROGRAM = 'verdict = "deny"\nkind = "agent"\nprogram = "/usr/bin/rm"\n'


@pytest.mark.parametrize(
    ("execution", "verdict"),
    [
        (run("/usr/bin/rm", "x"), Verdict.DENY),
        (run("/home/x", "x", real="/usr/bin/rm"), Verdict.DENY),
        (run("/home/rm", "rm"), Verdict.ALLOW),
        (run("/fuse/x", "x", real=None), Verdict.ASK),
        (Execution("/bin/x", None, ("x",), is_elsewhere=True), Verdict.ASK),
    ],
)
def test_a_rule_about_a_program_finds_it_by_its_path_and_its_file(
    execution: Execution, verdict: Verdict
) -> None:
    rules = read_policy(f'[default]\nagent = "allow"\n[[rule]]\n{PROGRAM}'.encode())

    assert judge(rules, question(execution)).verdict is verdict


def test_a_rule_about_who_staged_something_says_nothing_about_an_exec() -> None:
    rules = read_policy(
        b'[default]\nagent = "allow"\n'
        b'[[rule]]\nverdict = "deny"\noriginator = "other"\n'
    )

    assert judge(rules, question(run("/bin/rm", "rm"))).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "key",
    ['originator = "self"', 'originator_kind = "agent"', 'staged = "alias"'],
)
def test_a_rule_about_who_staged_something_allows_no_exec(key: str) -> None:
    policy = read_policy(
        f'[[rule]]\nverdict = "allow"\nkind = "agent"\n{key}\n'.encode()
    )

    assert judge(policy, question(run("/bin/ls", "ls"))).verdict is Verdict.DENY


SEVERAL = read_policy(
    b"""
[[rule]]
verdict = "deny"
first = ["rm", "mk*", "/opt/tool"]
[[rule]]
verdict = "ask"
sequence = "git push"
[[rule]]
verdict = "deny"
any = "*.key"
[[rule]]
verdict = "allow"
exact = "make test"
kind = "human"
"""
)
WORD = st.sampled_from(
    [
        *("rm", "/bin/rm", "-rm", "--git", "git", "push", "/x/push", "a.key"),
        *("busybox", "/lib/ld.so", "/usr/bin/make", "test", "mkfs", "", "ls"),
        *("/opt/tool", "a\nb.key", "x" * (MAX_TEXT + 1)),
    ]
)
MAYBE_WORD = st.one_of(WORD, st.none())
EXECUTION = st.builds(
    Execution,
    MAYBE_WORD,
    MAYBE_WORD,
    st.one_of(
        st.lists(MAYBE_WORD, max_size=4).map(tuple),
        st.just(("ls",) + ("x",) * (MAX_WORDS + 1)),
    ),
    is_elsewhere=st.booleans(),
)


@given(EXECUTION, st.sampled_from([ActorKind.HUMAN, ActorKind.AGENT]))
def test_i3_a_rule_that_no_name_meets_is_a_candidate_for_none_of_its_commands(
    execution: Execution, kind: ActorKind
) -> None:
    index = SEVERAL.index
    contexts = index.contexts(question(execution, kind))
    firsts = first_words(execution)
    if firsts is None or index.is_met(firsts, all_names(execution, firsts), contexts):
        return

    for command in (*commands_of(execution), *other_names(execution)):
        found = [number for number, _ in index.candidates(command)]
        assert {contexts[number] for number in found} <= {Match.NO}


@pytest.mark.parametrize(
    ("execution", "is_met"),
    [
        (run("/bin/ls", "ls", "x"), False),
        (run("/bin/ls", "-rm", "x"), True),
        (run("/bin/ls", "ls", real="/opt/rm"), True),
        (run("/bin/git", "git", "pull"), False),
        (run("/bin/git", "git", "/x/push"), True),
        (run("/bin/git", "git", None), True),
        (run("/bin/ls", "ls", "my.key"), True),
    ],
)
def test_i3_a_rule_is_met_by_any_name_and_by_what_is_not_known(
    execution: Execution, *, is_met: bool
) -> None:
    contexts = SEVERAL.index.contexts(question(execution))
    firsts = first_words(execution)

    assert firsts is not None
    assert (
        SEVERAL.index.is_met(firsts, all_names(execution, firsts), contexts) is is_met
    )


@pytest.mark.parametrize(
    "execution",
    [
        run("/bin/busybox", "busybox", "ls"),
        run("/bin/ls", "toybox"),
        run("/bin/ls", None),
        run("/bin/ls", "ls", real=None),
        run("/bin/ls", "x" * (MAX_TEXT + 1)),
        Execution(None, None, ("ls",)),
        Execution("/bin/ls", "/bin/ls", ("ls",), is_elsewhere=True),
    ],
)
def test_i3_what_may_be_anything_has_no_first_words(execution: Execution) -> None:
    assert first_words(execution) is None


@pytest.mark.parametrize(
    "execution",
    [
        run("/bin/ls", "ls", *["x"] * MAX_WORDS),
        run("/bin/ls", "ls", "x" * (MAX_TEXT + 1)),
        run("/bin/ls", "ls", None),
        Execution("/bin/ls", "/bin/ls", ("ls",), variables=("A=b",)),
    ],
)
def test_i3_words_that_are_not_all_known_have_no_names(execution: Execution) -> None:
    assert all_names(execution, frozenset({"ls"})) is None
