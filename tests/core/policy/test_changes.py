import pytest

from holdfast.core.policy.changes import policy_changes
from holdfast.core.policy.policy_file import read_policy

RULE = '[[rule]]\nname = "one"\nverdict = "{}"\nfirst = "{}"\n'


def changes(old: str, new: str) -> list[tuple[str, bool]]:
    found = policy_changes(read_policy(old.encode()), read_policy(new.encode()))
    return [(one.what, one.loosens) for one in found]


@pytest.mark.parametrize(
    ("old", "new", "what", "loosens"),
    [
        ("", RULE.format("allow", "ls"), "rule one added (allow)", True),
        ("", '[autonomy]\nagent="ask"', "autonomy up to ask for agent", True),
        ('[autonomy]\nagent="ask"', "", "no autonomy for agent", False),
        ("", RULE.format("deny", "ls"), "rule one added (deny)", False),
        (RULE.format("allow", "ls"), "", "rule one removed (allow)", False),
        (RULE.format("deny", "ls"), "", "rule one removed (deny)", True),
        (RULE.format("ask", "ls"), "", "rule one removed (ask)", True),
        (
            RULE.format("deny", "ls"),
            RULE.format("ask", "ls"),
            "rule one: deny becomes ask",
            True,
        ),
        (
            RULE.format("ask", "ls"),
            RULE.format("deny", "rm"),
            "rule one: ask becomes deny",
            False,
        ),
        (
            RULE.format("ask", "ls"),
            RULE.format("ask", "rm"),
            "rule one changed (ask)",
            False,
        ),
        (
            "",
            '[default]\nagent = "allow"\n',
            "default of agent: deny becomes allow",
            True,
        ),
        (
            '[undecidable]\nhuman = "ask"\n',
            '[undecidable]\nhuman = "pass"\n',
            "undecidable, human: ask becomes pass",
            True,
        ),
        (
            '[undecidable]\nhuman = "deny"\n',
            '[undecidable]\nhuman = "ask"\n',
            "undecidable, human: deny becomes ask",
            True,
        ),
        ("", "[budget.agent]\ninputs_per_minute = 1\n", "budget of agent", False),
        ("[budget.agent]\ninputs_per_minute = 1\n", "", "budget of agent", True),
        ("", '[plugins]\nuse = "a"\n', "plug-in a is asked", False),
        ('[plugins]\nuse = "a"\n', "", "plug-in a is no longer", True),
        ("", '[webhook]\nurl = "https://x.y/"\n', "webhook: https://x.y/", False),
        ('[webhook]\nurl = "https://x.y/"\n', "", "webhook: none", True),
        ("", "[turn]\nlimit = 5\n", "rules about turns", False),
    ],
)
def test_what_changes_is_told_and_whether_it_loosens(
    old: str, new: str, what: str, *, loosens: bool
) -> None:
    assert any(
        told.startswith(what) and said is loosens for told, said in changes(old, new)
    )


def test_undecidable_follows_the_default_unless_it_is_said() -> None:
    asks = '[undecidable]\nagent = "ask"\n'
    denies = '[undecidable]\nagent = "deny"\n'

    assert changes(denies, asks) == [("undecidable, agent: deny becomes ask", True)]
    assert changes(asks, denies) == [("undecidable, agent: ask becomes deny", False)]


def test_a_plug_in_that_stays_is_no_change() -> None:
    old, new = '[plugins]\nuse = ["a", "b"]\n', '[plugins]\nuse = ["b", "c"]\n'

    assert changes(old, new) == [
        ("plug-in a is no longer asked", True),
        ("plug-in c is asked", False),
    ]


def test_what_loosens_comes_first_and_the_same_changes_nothing() -> None:
    old = RULE.format("deny", "ls")
    new = (
        old
        + '[[rule]]\nname = "two"\nverdict = "ask"\n'
        + ('[[rule]]\nname = "three"\nverdict = "allow"\n')
    )

    assert changes(old, old) == []
    assert [loosens for _, loosens in changes(old, new)] == [True, False]
