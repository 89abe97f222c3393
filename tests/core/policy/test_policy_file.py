import pytest

from holdfast.core.capsule.runtime_choice import Runtime
from holdfast.core.input.budget import Budget
from holdfast.core.input.turn import AskDefault, TurnRules, first
from holdfast.core.policy.conditions import Under
from holdfast.core.policy.meant_folders import MeantFolders
from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_file import (
    MAX_FILE,
    MAX_NAMED,
    MAX_PLUGINS,
    MAX_PROBLEMS,
    MAX_RULES,
    examine,
    read_policy,
)
from holdfast.core.policy.rules import Undecidable, Webhook
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedPolicy, UsageError
from holdfast.model.limits import Limits
from holdfast.model.verdicts import Verdict

WHOLE = b"""
[default]
agent = "ask"
[undecidable]
human = "pass"
agent = "deny"
[plugins]
use = ["limits", "limits", "more"]
[webhook]
url = "http://127.0.0.1:8181/v1/data/holdfast"
timeout = 0.5
[turn]
limit = 600
ask = "grant"
[budget.agent]
inputs_per_minute = 60
turn_seconds = 300
[runtime]
agent = "capsule"
[budget.device]
bytes_per_minute = 1024
[[rule]]
name = "one"
verdict = "deny"
why = "because"
first = "rm"
cwd = "/src"
kind = "agent"
[[rule]]
verdict = "allow"
"""


def problems(text: str) -> list[str]:
    policy, found = examine(text.encode())

    assert (policy is None) is bool(found)
    return [str(problem) for problem in found]


def rule(text: str) -> str:
    return f'[[rule]]\nverdict = "deny"\n{text}'


def test_as_many_plug_ins_as_may_be_are_asked() -> None:
    names = [f"x{number}" for number in range(MAX_PLUGINS)]

    assert read_policy(f"[plugins]\nuse = {names}".encode()).plugins == tuple(names)


def test_everything_that_a_file_says_is_read() -> None:
    policy = read_policy(WHOLE)

    assert policy.default[ActorKind.AGENT] is Verdict.ASK
    assert policy.default[ActorKind.HUMAN] is Verdict.ALLOW
    assert policy.default[ActorKind.DEVICE] is Verdict.DENY
    assert policy.undecidable[ActorKind.AGENT] is Undecidable.DENY
    assert policy.runtime == {ActorKind.AGENT: Runtime.CAPSULE}
    assert policy.plugins == ("limits", "more")
    assert policy.webhook == Webhook("http://127.0.0.1:8181/v1/data/holdfast", 0.5)
    agent, device = Budget(60, None, 300.0), Budget(None, 1024, None)
    assert policy.budgets == {ActorKind.AGENT: agent, ActorKind.DEVICE: device}
    limits = {ActorKind.AGENT: 300.0}
    assert policy.turn == TurnRules(600.0, 30.0, AskDefault.GRANT, first, limits)
    one, other = policy.rules
    assert (one.name, one.verdict, one.why) == ("one", Verdict.DENY, "because")
    assert (len(one.conditions), one.words is None, one.under is None) == (
        1,
        False,
        False,
    )
    assert (other.name, other.conditions, other.words) == ("rule-2", (), None)


def test_folders_have_names() -> None:
    text = '[folders]\nwork = "/w"\n' + rule('cwd = ["@work", "!/w/x"]')

    (found,) = read_policy(text.encode()).rules

    assert found.under == Under(MeantFolders(("/w",), ("/w/x",)))


@pytest.mark.parametrize("raw", [b"", b"# nothing\n", b"\r\n"])
def test_a_file_that_says_nothing_is_an_empty_policy(raw: bytes) -> None:
    assert read_policy(raw) == Policy()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]]", "line 1: rule rule-1: verdict: expected allow or deny or ask"),
        ('[[rule]]\nverdict = "no"', "line 2: rule rule-1: verdict: expected"),
        ("[[rule]]\nverdict = true", "line 2: rule rule-1: verdict: expected"),
        (rule('\ncolour = "red"'), "line 4: rule rule-1: colour: there is no such"),
        (rule('name = "x y"'), "line 1: rule 1: name: expected up to 64"),
        (rule("name = 1"), "line 1: rule 1: name: expected up to 64"),
        (rule('name = "a"\n') * 2, "line 4: rule 2: name: another rule is named a"),
        (rule('name = "rule-2"\n') + rule(""), "another rule is named rule-2"),
        (rule("why = 1"), "line 3: rule rule-1: why: expected one line"),
        (rule('why = "a\\nb"'), "why: expected one line"),
        (rule(f'why = "{"x" * 201}"'), "why: expected one line"),
        (rule('name = "n"\nkind = "x"'), "line 4: rule n: kind: expected one of"),
        ('[rule]\nverdict = "deny"', "rule: expected tables that begin with"),
        ("rule = [1]", "rule: expected tables that begin with"),
        ('rule = [{verdict = "x"}]', "rule rule-1: verdict"),
        ('x = """\n[[rule]]\n"""\n[[rule]]', "rule rule-1: verdict"),
        ("[rules]\n", "line 1: rules: there is no such key"),
        ("default = 1", "line 1: default: expected a table"),
        ('[default]\nagents = "deny"', "line 2: default: agents: there is no such key"),
        ('[default]\n\nagent = "no"', "line 3: default: agent: expected allow or"),
        ("default.agent = 1", "line 1: default: agent: expected allow or"),
        ('undecidable = {agent = "x"}', "line 1: undecidable: agent: expected pass"),
        ('[undecidable]\nagent = "pass"', "line 2: undecidable: only humans"),
        ('[undecidable]\nagent = "allow"', "expected pass or ask or deny"),
        (
            '[runtime]\nagent = "vm"',
            "line 2: runtime: agent: expected plain or",
        ),
        ("[plugins]\nuse = 1", "line 2: plugins: use: expected at most 8 names"),
        ('[plugins]\nuse = ["a b"]', "plugins: use: expected"),
        (f"[plugins]\nuse = {['x'] * 9}", "plugins: use: expected"),
        ("[plugins]\nall = true", "line 2: plugins: all: there is no such key"),
        ("[webhook]", "line 1: webhook: url: expected https://"),
        ('[webhook]\nurl = "https://x/#f"\nurl2 = 1', "webhook: url2: there is no"),
        ('[webhook]\nurl = "ftp://x"', "line 2: webhook: url: expected https://"),
        ('[webhook]\nurl = "https://u:p@x/"', "webhook: url: expected https://"),
        ('[webhook]\nurl = "https://x:0/"', "webhook: url: expected https://"),
        ('[webhook]\nurl = "https://x:99999/"', "webhook: url: expected https://"),
        ('[webhook]\nurl = "http://example.org/"', "webhook: url: expected https:"),
        ('[webhook]\nurl = "https://x"\ntimeout = 0', "line 3: webhook: timeout"),
        ('[webhook]\nurl = "https://x"\ntimeout = 9', "webhook: timeout"),
        ('[webhook]\nurl = "https://x"\ntimeout = nan', "webhook: timeout"),
        ('[webhook]\nurl = "https://x"\ntimeout = 1e309', "webhook: timeout"),
        ('[webhook]\nurl = "https://x"\ntimeout = true', "webhook: timeout"),
        ('[webhook]\nurl = "https://x"\ntimeout = "1"', "webhook: timeout"),
        ("turn = 1", "line 1: turn: expected a table"),
        ("[turn]\n\nlimits = 1", "line 3: turn: limits: there is no such key"),
        ("[turn]\nlimit = 0", "line 2: turn: limit: expected seconds, from 1"),
        ("[budget]\n[turn]\nlimit = 0", "line 3: turn: limit: expected seconds"),
        ('[turn]\nnext = "x"', "line 2: turn: next: expected first or human-first"),
        ("budget = 1", "line 1: budget: expected a table"),
        ("[budget]\nagent = 1", "budget.agent: expected a table"),
        ("[budget.agents]", "budget: agents: there is no such key"),
        ("[budget.agent]\nx = 1", "line 2: budget.agent: x: there is no such"),
        (
            "[budget.agent]\ninputs_per_minute = 0",
            "line 2: budget.agent: inputs_per_minute: expected a whole number",
        ),
        ("folders = 1", "line 1: folders: expected a table"),
        ('[folders]\nw = "x"', "line 2: folders: w: expected an absolute path"),
        ("[folders]\nw = 1", "line 2: folders: w: expected a text"),
        ('[folders]\n"a b" = "/"', "line 2: folders: a b: expected up to 64"),
        (rule('cwd = "@x"'), "line 3: rule rule-1: cwd: [folders] has no 'x'"),
        ("x = 1\nx = 2\n", "line 2: it is not TOML"),
        ("x", "it is not TOML"),
        ("\ufeffx = 1", "it is not TOML"),
        ("x = " + "[" * 5000, "it is not TOML"),
        ("x = " + "9" * 5000, "it is not TOML"),
        ("a." * 65 + "a = 1", "line 1: it has over 64 dots"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, said: str) -> None:
    assert any(said in problem for problem in problems(text)), problems(text)


def test_so_many_dots_are_looked_at() -> None:
    assert not any("dots" in one for one in problems("a." * 64 + "a = 1"))


def test_every_problem_is_found_in_one_go_i2_i3() -> None:
    text = '[default]\nx = 1\n[[rule]]\nverdict = 1\nkind = "x"\ny = 1\n[[rule]]\n'

    assert len(problems(text)) == 5


def test_the_error_names_some_and_counts_all() -> None:
    with pytest.raises(UsageError, match="the policy has 9 problems: line 1") as caught:
        read_policy(b"[[rule]]\n" * 9)

    assert isinstance(caught.value, MalformedPolicy)
    assert str(caught.value).count(";") == MAX_NAMED - 1
    with pytest.raises(UsageError, match="has 1 problem: line 1"):
        read_policy(b"[[rule]]\n")


def test_a_file_of_nothing_but_problems_is_not_listed_to_its_end() -> None:
    assert len(problems("[[rule]]\n" * 500)) == MAX_PROBLEMS


def test_what_is_not_text_is_refused_with_its_line() -> None:
    _, (problem,) = examine(b"\n\n\xff")

    assert str(problem) == "line 3: it is not UTF-8"


def test_a_file_has_a_largest_size() -> None:
    assert examine(b"#" * MAX_FILE)[0] is not None
    assert "bytes" in problems("#" * (MAX_FILE + 1))[0]
    assert "bytes" in problems("é" * MAX_FILE)[0]


def test_there_is_a_largest_number_of_rules() -> None:
    assert f"over {MAX_RULES}" in problems("rule = [" + "{}," * 10_001 + "]")[0]


@pytest.mark.parametrize(
    "url", ["https://x", "https://[::1]:8/a?b=c", "http://localhost/", "http://[::1]/"]
)
def test_a_webhook_is_asked_in_secret_or_on_this_machine(url: str) -> None:
    policy = read_policy(f'[webhook]\nurl = "{url}"'.encode())

    assert policy.webhook == Webhook(url, 1.0)


def test_the_most_that_a_kind_of_actor_may_have_is_read() -> None:
    policy = read_policy(b'[limits.agent]\nmemory = "4G"\ncpus = 2\npids = 1000\n')

    assert policy.limits == {ActorKind.AGENT: Limits(4 << 30, 2000, 1000)}
    for wrong in (
        b"[limits]\nx = 1",
        b"[limits.agent]\ndisk = 1",
        b"[limits.agent]\npids = 1",
    ):
        with pytest.raises(MalformedPolicy):
            read_policy(wrong)


@pytest.mark.parametrize("key", ["sequence", "exact"])
def test_a_sequence_of_nothing_but_a_bad_pattern_is_named(key: str) -> None:
    text = f'[[rule]]\nverdict = "deny"\n{key} = ["\\u0001", "git \\u0001"]\n'

    found = problems(text)

    assert len(found) == 2
    assert all("is not a pattern" in one for one in found)


def test_autonomy_is_for_operators_who_are_not_human() -> None:
    policy, problems = examine(b'[autonomy]\nagent = "allow"\nservice = "ask"\n')
    refused, (problem,) = examine(b'[autonomy]\nhuman = "allow"\n')

    assert problems == ()
    assert policy is not None
    assert policy.autonomy == {
        ActorKind.AGENT: Verdict.ALLOW,
        ActorKind.SERVICE: Verdict.ASK,
    }
    assert refused is None
    assert "humans climb no ladder" in str(problem)
