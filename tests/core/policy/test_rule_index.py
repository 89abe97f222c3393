import pytest
from tests.core.policy_world import ANN, policy, question

from holdfast.core.policy import rule_index
from holdfast.core.policy.command_words import Match
from holdfast.core.policy.policy import Policy
from holdfast.core.shell.command_line import read_line
from holdfast.model.inputs import InputKind

RULES = """
[[rule]]
verdict = "deny"
first = ["rm", "mkfs.*"]
kind = "agent"
[[rule]]
verdict = "ask"
sequence = ["git push", "h? push"]
kind = "agent"
[[rule]]
verdict = "ask"
any = "x"
signal = 2
[[rule]]
verdict = "allow"
exact = "*ake test"
[[rule]]
verdict = "allow"
kind = "human"
"""


def candidates(given: Policy, text: str) -> list[int]:
    (command, *_) = read_line(text.encode(), ended=True)
    return [number for number, _ in given.index.candidates(command)]


def test_rules_are_found_by_the_first_word_i1() -> None:
    given = policy(RULES)

    assert candidates(given, "ls test") == [2, 3, 4]
    assert candidates(given, "rm test") == [0, 2, 3, 4]
    assert candidates(given, "/bin/rm test") == [0, 2, 3, 4]
    assert candidates(given, "mkfs.ext4 $X") == [0, 2, 3, 4]
    assert candidates(given, "git $X") == [1, 2, 3, 4]
    assert candidates(given, "hg x") == [1, 2, 4]
    assert candidates(given, "") == [2, 4]


def test_rules_that_need_other_words_are_passed_over_i1() -> None:
    given = policy(
        '[[rule]]\nverdict = "deny"\nsequence = "git push"\n'
        '[[rule]]\nverdict = "deny"\nany = "*.key"\n'
    )

    assert candidates(given, "git pull") == []
    assert candidates(given, "git -C x push") == [0]
    assert candidates(given, "git $X") == [0, 1]
    assert candidates(given, "x > $X") == [1]
    assert candidates(given, "x a.keys") == [1]


def test_every_rule_is_looked_at_where_words_do_not_tell_i1() -> None:
    given = policy(RULES)

    for text in ("sudo ls", "sh -c x", "$((x))", "$X"):
        assert candidates(given, text) == [0, 1, 2, 3, 4]


def test_conditions_are_asked_once_and_counted_for_every_rule() -> None:
    given = policy(RULES)

    contexts = given.index.contexts(question(b"ls"))
    assert contexts == [Match.YES, Match.YES, Match.NO, Match.YES, Match.NO]
    contexts = given.index.contexts(question(b"ls", actor=ANN))
    assert contexts == [Match.NO, Match.NO, Match.NO, Match.YES, Match.YES]


def test_a_policy_knows_whether_a_rule_speaks_of_files() -> None:
    assert not policy(RULES).index.has_files
    assert policy(
        RULES + '[[rule]]\nverdict = "allow"\nfirst = "cat"\npaths = "/src"\n'
    ).index.has_files


def test_a_condition_that_cannot_be_told_leaves_its_rule_open() -> None:
    contexts = policy(RULES).index.contexts(question(b"?", kind=InputKind.SIGNAL))

    assert contexts == [Match.YES, Match.YES, Match.MAYBE, Match.YES, Match.NO]


def test_no_more_names_are_remembered_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rule_index, "MAX_KNOWN", 2)
    given = policy(RULES)

    for name in ("ls", "rm", "cat", "rm", "ls"):
        expected = [0, 2, 3, 4] if name == "rm" else [2, 3, 4]
        assert candidates(given, f"{name} test") == expected
