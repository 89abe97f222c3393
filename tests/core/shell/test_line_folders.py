import pytest

from holdfast.core.shell.line_folders import (
    ANYWHERE,
    MAX_FOLDERS,
    Outcome,
    led,
    still,
    united,
)
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import HERE


@pytest.mark.parametrize(
    ("words", "yes", "no"),
    [
        ((), HERE, HERE),
        (("ls",), HERE, HERE),
        (("cd", "src"), ("src",), HERE),
        (("cd", "/etc"), ("/etc",), HERE),
        (("cd",), ANYWHERE, ANYWHERE),
        (("cd", "-"), ANYWHERE, ANYWHERE),
        (("cd", "+1"), ANYWHERE, ANYWHERE),
        (("cd", "~x"), ANYWHERE, ANYWHERE),
        (("cd", ""), ANYWHERE, ANYWHERE),
        (("cd", "a/.."), ANYWHERE, ANYWHERE),
        (("cd", "a..b"), ("a..b",), HERE),
        (("cd", None), ANYWHERE, ANYWHERE),
        (("cd", "a", "b"), ANYWHERE, ANYWHERE),
        (("pushd", "a"), ANYWHERE, ANYWHERE),
        ((None,), ANYWHERE, ANYWHERE),
        (("..",), ANYWHERE, ANYWHERE),
        (("src/",), ANYWHERE, ANYWHERE),
        (("./configure",), HERE, HERE),
    ],
)
def test_a_command_leads_where_its_words_say(
    words: tuple[str | None, ...], yes: tuple[str, ...], no: tuple[str, ...]
) -> None:
    assert led(words, HERE, Grammar.BASH) == Outcome(yes, no)


def test_fish_changes_to_a_folder_that_stands_as_a_command() -> None:
    assert led(("./configure",), HERE, Grammar.FISH) == still(ANYWHERE)
    assert led(("make",), HERE, Grammar.FISH) == still(HERE)


def test_a_path_goes_on_from_where_it_begins() -> None:
    assert led(("cd", "b"), ("", "a"), Grammar.BASH).yes == ("b", "a/b")


def test_folders_are_united_while_all_of_them_are_known() -> None:
    assert united(("a",), ("b", "a")) == ("a", "b")
    assert united(ANYWHERE, ("a",)) == united(("a",), ANYWHERE) == ANYWHERE
    many = tuple(map(str, range(MAX_FOLDERS)))
    assert united(many, many) == many
    assert united(many, ("x",)) == ANYWHERE
    assert Outcome(("a",), ("b",)).either == ("a", "b")
