import pytest
from tests.core.policy_world import question

from holdfast.core.policy.command_folders import is_under, working_folders
from holdfast.core.policy.command_words import Match, WordPatterns
from holdfast.core.policy.conditions import Under
from holdfast.core.policy.meant_folders import MeantFolders
from holdfast.core.policy.rules import Rule
from holdfast.core.shell.globs import Globs
from holdfast.core.shell.simple_command import Command
from holdfast.model.verdicts import Verdict

SRC = Under(MeantFolders(("/src",), ()))
MAKE = WordPatterns(first=Globs.of(["make"]))
LEADS = {"lib": "/src/lib", "/etc": "/etc"}
YES, NO, MAYBE = Match.YES, Match.NO, Match.MAYBE


@pytest.mark.parametrize(
    ("folders", "allowing", "preventing"),
    [
        (("",), YES, YES),
        ((), MAYBE, MAYBE),
        (("lib",), YES, YES),
        (("/etc",), NO, NO),
        (("", "lib"), YES, YES),
        (("", "/etc"), NO, YES),
        (("", "gone"), MAYBE, YES),
        (("/etc", "gone"), NO, MAYBE),
    ],
)
def test_i1_i2_every_folder_it_may_run_in_counts(
    folders: tuple[str, ...], allowing: Match, preventing: Match
) -> None:
    asked = question(b"", folders=LEADS)
    command = Command(("make",), folders=folders)

    for verdict, found in ((Verdict.ALLOW, allowing), (Verdict.ASK, preventing)):
        rule = Rule("x", verdict, words=MAKE, under=SRC)
        assert is_under(rule, SRC, command, asked) is found


def test_a_rule_without_words_is_about_where_the_session_works() -> None:
    rule = Rule("x", Verdict.ALLOW, under=SRC)

    assert is_under(rule, SRC, Command(folders=()), question()) is YES


def test_a_folder_of_which_nothing_is_known_is_none() -> None:
    assert working_folders(Command(folders=()), question()) == (None,)
    assert working_folders(Command(folders=("", "x")), question()) == ("/src", None)
