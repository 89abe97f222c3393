import json
from typing import Any

import pytest
from tests.core.policy_world import ANN, BOT, policy, question, said, verdict_and_rule

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.policy import (
    Judgement,
    Policy,
    combined,
    document,
    explain,
    judge,
    strictest,
)
from holdfast.core.policy.rules import Undecidable
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict

DENY_RM = '[[rule]]\nname = "no-rm"\nverdict = "deny"\nfirst = "rm"\nwhy = "no"\n'
ASK_RM = '[[rule]]\nname = "ask-rm"\nverdict = "ask"\nfirst = "rm"\n'
PREVIEW_RM = '[[rule]]\nname = "try-rm"\nverdict = "preview"\nfirst = "rm"\n'
ALLOW_LS = '[[rule]]\nname = "ls"\nverdict = "allow"\nfirst = "ls"\n'
ALLOW_ALL = '[[rule]]\nname = "all"\nverdict = "allow"\n'
UNREAD = b"x $((y))"


@pytest.mark.parametrize("kind", ActorKind)
def test_an_empty_policy_allows_humans_and_nobody_else_i4(kind: ActorKind) -> None:
    actor = Actor(ANN.id, kind, "somebody")
    judgement = judge(Policy(), question(b"ls", actor=actor))

    assert (judgement.verdict is Verdict.ALLOW) is (kind is ActorKind.HUMAN)
    assert judgement.rule == f"default-{kind}"
    assert judgement.by_default


def test_deny_wins_over_ask_and_ask_over_allow_i1() -> None:
    assert said(ALLOW_ALL, b"rm x") == ("allow", "all")
    assert said(ALLOW_ALL + ASK_RM, b"rm x") == ("ask", "ask-rm")
    assert said(ALLOW_ALL + ASK_RM + DENY_RM, b"rm x") == ("deny", "no-rm")
    assert said(DENY_RM + ASK_RM + ALLOW_ALL, b"rm x") == ("deny", "no-rm")


def test_preview_wins_over_allow_and_nothing_else_i1() -> None:
    assert said(ALLOW_ALL + PREVIEW_RM, b"rm x") == ("preview", "try-rm")
    assert said(PREVIEW_RM + ASK_RM + ALLOW_ALL, b"rm x") == ("ask", "ask-rm")
    assert said(PREVIEW_RM + DENY_RM, b"rm x") == ("deny", "no-rm")
    assert said(PREVIEW_RM, b"rm x") == ("preview", "try-rm")


def test_a_preview_of_what_may_be_denied_is_asked_about() -> None:
    tries = '[[rule]]\nname = "tries"\nverdict = "preview"\n'

    assert said(tries, UNREAD) == ("preview", "tries")
    assert said(tries + ALLOW_LS, UNREAD) == ("preview", "tries")
    assert said(tries + PREVIEW_RM, UNREAD) == ("preview", "tries")
    assert said(tries + DENY_RM, UNREAD) == ("ask", "undecidable")
    assert said(tries + ASK_RM, UNREAD) == ("ask", "undecidable")
    strict = '[undecidable]\nagent = "deny"\n'
    assert said(strict + tries + DENY_RM, UNREAD) == ("deny", "undecidable")


def test_what_a_preview_rule_may_fit_is_asked_about() -> None:
    assert said(ALLOW_ALL + PREVIEW_RM, UNREAD) == ("ask", "undecidable")
    assert said(PREVIEW_RM, UNREAD) == ("deny", "default-agent")


def test_everything_of_a_kind_can_be_previewed_by_default() -> None:
    tried = '[default]\nagent = "preview"\n'

    assert said(tried, b"rm x") == ("preview", "default-agent")
    assert said(tried + ALLOW_LS, b"ls") == ("allow", "ls")
    assert said(tried + ALLOW_LS, UNREAD) == ("ask", "undecidable")


def test_a_judgement_says_why() -> None:
    assert judge(policy(DENY_RM), question(b"rm x")).why == "no"


def test_a_line_is_as_forbidden_as_its_strictest_command() -> None:
    assert said(ALLOW_LS + DENY_RM, b"ls; rm x; ls") == ("deny", "no-rm")
    assert said(ALLOW_LS, b"ls; x") == ("deny", "default-agent")
    assert said(ALLOW_LS, b"ls; ls") == ("allow", "ls")


def test_what_a_rule_cannot_decide_is_asked_and_not_allowed_i5() -> None:
    assert said(ALLOW_LS, UNREAD) == ("ask", "undecidable")
    assert said(DENY_RM + ALLOW_ALL, UNREAD) == ("ask", "undecidable")
    assert "compound" in judge(policy(ALLOW_LS), question(b"((x))")).why
    assert "see rule ls" in judge(policy(ALLOW_LS), question(b"X=1 ls")).why


def test_what_is_decided_either_way_is_not_asked() -> None:
    assert said(ALLOW_LS + ALLOW_ALL, UNREAD) == ("allow", "all")
    assert said(DENY_RM, UNREAD) == ("deny", "default-agent")
    assert said(ALLOW_LS + '[default]\nagent = "allow"', UNREAD)[0] == "allow"


def test_a_default_that_a_rule_may_stand_behind_is_an_opinion_i3() -> None:
    assert not judge(policy(DENY_RM), question(UNREAD)).by_default
    assert judge(policy(DENY_RM), question(b"x")).by_default


def test_words_that_can_be_seen_are_denied_in_what_cannot_be_read() -> None:
    assert said(DENY_RM + ALLOW_ALL, b"x $(rm -rf y)") == ("deny", "no-rm")


def test_an_ask_that_is_sure_stands_over_a_deny_that_is_not() -> None:
    asks = '[[rule]]\nname = "asks"\nverdict = "ask"\n'

    assert said(DENY_RM + asks, UNREAD) == ("ask", "asks")


def test_the_undecidable_can_be_denied() -> None:
    strict = '[undecidable]\nagent = "deny"\n'
    asks = '[[rule]]\nname = "asks"\nverdict = "ask"\n'

    assert said(strict + ALLOW_LS, UNREAD) == ("deny", "undecidable")
    assert said(strict + DENY_RM + asks, UNREAD) == ("deny", "undecidable")
    assert said(strict + DENY_RM, UNREAD) == ("deny", "undecidable")
    assert said(strict + asks, UNREAD) == ("ask", "asks")


def test_a_person_types_keys_that_no_rule_can_judge() -> None:
    keys = {"actor": ANN, "kind": InputKind.KEYS}

    assert said(DENY_RM, b"r", **keys) == ("allow", "default-human")
    assert said(DENY_RM, b"m\r", staged=b"r", **keys) == ("deny", "no-rm")
    asked = '[undecidable]\nhuman = "ask"\n'
    assert said(asked + DENY_RM, b"r", **keys) == ("ask", "undecidable")


def test_a_person_who_may_nothing_by_default_is_asked_about() -> None:
    closed = '[default]\nhuman = "deny"\n'

    assert policy(closed).when_undecidable(ActorKind.HUMAN) is Undecidable.ASK
    assert said(closed + ALLOW_LS, b"l", actor=ANN, kind=InputKind.KEYS)[0] == "ask"


def test_rules_about_words_say_nothing_about_signals_and_sizes() -> None:
    any_word = '[[rule]]\nverdict = "allow"\nany = "*"\n'

    assert said(any_word, b"2", kind=InputKind.SIGNAL)[0] == "deny"
    assert said(any_word, b"80x24", kind=InputKind.RESIZE)[0] == "deny"
    assert said(any_word, b"2", kind=InputKind.COMMAND)[0] == "allow"


def test_i6_what_another_program_may_read_is_allowed_by_no_rule_about_words() -> None:
    program = '[[rule]]\nverdict = "allow"\nprogram = "*"\n'

    for rules in (ALLOW_LS, program):
        assert said(rules, b"ls", shell_reads=False) == ("ask", "undecidable")
    assert said(ALLOW_ALL, b"ls", shell_reads=False) == ("allow", "all")
    assert said(ALLOW_ALL + DENY_RM, b"rm x", shell_reads=False) == ("deny", "no-rm")
    assert (
        "another program"
        in judge(policy(ALLOW_LS), question(b"ls", shell_reads=False)).why
    )
    (found,) = explain(policy(ALLOW_LS), question(b"ls", shell_reads=False))
    assert found.because == "another program than the shell may read it"


def test_an_answer_is_text_like_any_other() -> None:
    assert said(DENY_RM + ALLOW_ALL, b"rm x\r", kind=InputKind.ANSWER)[0] == "deny"


def test_a_folder_counts_as_long_as_it_is_known() -> None:
    named = '[[rule]]\nname = "make"\nverdict = "allow"\n'
    rule = named + 'first = ["make", "cd"]\ncwd = "/src"'

    assert said(rule, b"make") == ("allow", "make")
    assert said(rule, b"make", cwd="/") == ("deny", "default-agent")
    assert said(rule, b"make", cwd=None) == ("ask", "undecidable")
    assert said(rule, b"cd /; make") == ("ask", "undecidable")
    denied = '[[rule]]\nname = "etc"\nverdict = "deny"\nfirst = "rm"\ncwd = "/etc"\n'
    assert said(denied + ALLOW_ALL, b"cd /etc; rm x")[0] == "ask"


def test_a_folder_alone_is_that_of_the_moment() -> None:
    rule = '[[rule]]\nname = "here"\nverdict = "allow"\ncwd = "/src"'

    assert said(rule, b"cd /; x") == ("allow", "here")


def test_every_rule_says_what_stood_in_its_way() -> None:
    rules = (
        DENY_RM
        + ALLOW_LS
        + '[[rule]]\nverdict = "ask"\nkind = "human"\n'
        + '[[rule]]\nverdict = "ask"\nfirst = "ls"\ncwd = "/x"\n'
        + '[[rule]]\nverdict = "allow"\nany = "y"\n'
        + '[[rule]]\nverdict = "ask"\nsignal = 2\n'
    )

    findings = explain(policy(rules), question(b"ls $X"))
    assert [(f.rule, f.match, f.because) for f in findings] == [
        ("no-rm", Match.NO, "it does not fit by its words"),
        ("ls", Match.YES, "everything fits"),
        ("rule-3", Match.NO, "it does not fit by kind"),
        ("rule-4", Match.NO, "it does not fit by cwd"),
        ("rule-5", Match.MAYBE, "cannot be decided by its words"),
        ("rule-6", Match.NO, "it does not fit by signal"),
    ]
    (unread,) = explain(policy(ALLOW_LS), question(UNREAD))
    assert (unread.match, unread.verdict) == (Match.MAYBE, Verdict.ALLOW)
    assert "inside" in unread.because


def opinion(verdict: Verdict, rule: str = "x") -> Judgement:
    return Judgement(verdict, rule)


def test_others_are_joined_and_deny_wins_i1() -> None:
    allow, ask, deny = (opinion(v) for v in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY))

    assert combined(allow) is allow
    assert combined(allow, None, ask) is ask
    assert combined(ask, deny, allow) is deny
    assert combined(deny, allow, None) is deny


def test_a_default_counts_only_if_nobody_has_an_opinion() -> None:
    default = Judgement(Verdict.DENY, "default-agent", by_default=True)

    assert combined(default, None, None) is default
    assert verdict_and_rule(combined(default, opinion(Verdict.ALLOW))) == ("allow", "x")


def test_of_equals_the_first_is_named() -> None:
    first, second = opinion(Verdict.ASK, "1"), opinion(Verdict.ASK, "2")

    assert strictest([first, second]) is first


def test_the_document_has_the_commands_if_they_are_known() -> None:
    whole = document(question(b" -l $X | wc\r", staged=b"ls", kind=InputKind.KEYS))

    assert whole["text"] == "ls -l $X | wc"
    assert whole["commands"] == [("ls", "-l", None), ("wc",)]
    assert whole["doubt"] is None
    json.dumps(whole)


def test_the_document_says_why_they_are_not() -> None:
    whole = document(question(b"ls", staged=None))

    assert (whole["text"], whole["commands"]) == (None, None)
    assert whole["doubt"] == "what follows is not known"
    assert document(question(b"2", kind=InputKind.SIGNAL))["commands"] is None


def test_the_document_has_nothing_of_a_secret() -> None:
    whole = document(question(b"hunter2\r", kind=InputKind.KEYS, secret=True))

    assert (whole["text"], whole["commands"], whole["doubt"]) == (None, None, None)
    assert whole["payload"] is None


STOPPING = """
[[rule]]
name = "stop"
verdict = "allow"
kind = "agent"
signal = [2, 15]
foreground = "self"

[[rule]]
name = "no-disks"
verdict = "deny"
first = "mkfs"
"""


def test_an_interrupt_is_no_text_and_may_be_one_s_own() -> None:
    key: dict[str, Any] = {"kind": InputKind.KEYS, "interrupts": True}

    mine = said(STOPPING, b"\x03", **key, started_by=(BOT.id,))
    theirs = said(STOPPING, b"\x03", **key, started_by=(ANN.id,))
    unknown = said(STOPPING, b"\x03", **key)
    typed = said(STOPPING, b"\x03", kind=InputKind.KEYS, started_by=(BOT.id,))

    assert mine == ("allow", "stop")
    assert theirs == ("deny", "default-agent")
    assert unknown == ("ask", "undecidable")
    assert typed == ("deny", "default-agent")


def test_a_path_that_the_line_itself_may_lead_elsewhere_is_undecidable() -> None:
    rules = policy(
        '[[rule]]\nverdict = "allow"\nfirst = "ln"\n'
        '[[rule]]\nverdict = "allow"\nfirst = "cat"\npaths = "/src"\n'
    )

    judgement = judge(rules, question(b"ln -s /etc/passwd x && cat x\n"))

    assert judgement.verdict is Verdict.ASK
    assert "may change where its paths lead" in judgement.why
