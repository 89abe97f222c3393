import pytest
from tests.core.resolving_world import state

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.known_values import known_values
from holdfast.core.shell.shell_grammar import KNOWN, Grammar

HOME = {"HOME": "/home/u"}


def words(line: str, grammar: Grammar = Grammar.BASH) -> tuple[str | None, ...]:
    """Return the words of the last command of a line, with HOME known."""
    return read_line(line.encode(), grammar, ended=True, values=HOME)[-1].words


@pytest.mark.parametrize("grammar", KNOWN)
@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("$HOME", "/home/u"),
        ("$HOME/x", "/home/u/x"),
        ('"$HOME"', "/home/u"),
        ('"a $HOME/x"', "a /home/u/x"),
        ("~", "/home/u"),
        ("~/x", "/home/u/x"),
        ('~/"x y"', "/home/u/x y"),
        ("'$HOME'", "$HOME"),
        ("'~'", "~"),
        ("~x/y", None),
        ('~"/x"', None),
        ("$HOMER", None),
        ("$HOME$X", None),
        ("$X/$HOME", None),
        ("$PWD", None),
    ],
)
def test_what_is_known_stands_in_the_word(
    text: str, word: str | None, grammar: Grammar
) -> None:
    assert words(f"cat {text}", grammar) == ("cat", word)


@pytest.mark.parametrize("grammar", [Grammar.BASH, Grammar.ZSH, Grammar.DASH])
def test_braces_ask_for_the_same(grammar: Grammar) -> None:
    assert words("cat ${HOME}/x", grammar) == ("cat", "/home/u/x")
    assert words("cat ${HOME%/*}", grammar) == ("cat", None)


def test_what_goes_on_behind_it_is_as_open_as_before() -> None:
    assert words("cat $HOME:h", Grammar.ZSH) == ("cat", None)
    assert words("cat $$HOME", Grammar.FISH) == ("cat", None)
    assert read_line(b"cat $HOME[1]", Grammar.ZSH, ended=True, values=HOME)[0].doubt


@pytest.mark.parametrize(
    "before",
    [
        *("HOME=/x", "HOME+=/x", "IFS=/", "export HOME=/x", 'export HO""ME=/x'),
        *("read -r HO''ME", "unset HO''ME", "printf -v HO''ME x", "eval x", ". ./x"),
        *("source x", "set -k", "trap x DEBUG", "builtin read x", "command . ./x"),
        *("$X", "wait -p x", "getopts a x", "time read x", "local x", "let 1"),
    ],
)
@pytest.mark.parametrize("text", ["$HOME/x", "~/x"])
def test_what_the_line_may_change_is_not_known(before: str, text: str) -> None:
    assert words(f"{before}; cat {text}") == ("cat", None)
    assert words(f"cat {text}; {before}; cat {text}") == ("cat", None)


@pytest.mark.parametrize(
    "line",
    ["HOME=/x cat $HOME", "env HOME=/x cat $HOME", "for HOME in a; do cat ~; done"],
)
def test_nor_is_it_where_it_is_set_for_a_command(line: str) -> None:
    for command in read_line(line.encode(), Grammar.BASH, ended=True, values=HOME):
        assert "/home/u" not in command.words


def test_a_command_named_by_what_is_known_is_no_alias() -> None:
    for line in (b"$HOME/x", b"${HOME}/x", b"~/x"):
        (one,) = read_line(line, Grammar.BASH, ended=True, values=HOME)

        assert (one.words, one.is_quoted) == (("/home/u/x",), True)


def test_a_folder_that_is_changed_to_is_known() -> None:
    found = read_line(b"cd ~/x && make", Grammar.BASH, ended=True, values=HOME)

    assert found[1].folders == ("/home/u/x",)


def test_so_is_what_is_written() -> None:
    found = read_line(b"echo a > ~/x", Grammar.BASH, ended=True, values=HOME)

    assert [one.target for one in found[0].redirections] == ["/home/u/x"]


def test_where_the_shell_is_not_known_nothing_is() -> None:
    found = read_line(b"cat ~/x", ended=True, values=HOME)

    assert found[0].words == ("cat", None)


@pytest.mark.parametrize(
    ("environment", "known"),
    [
        ({"HOME": "/home/u"}, HOME),
        ({"HOME": "/home/u", "IFS": " \t\n"}, HOME),
        ({"HOME": "/home/u0", "IFS": " \t\n\\0"}, {"HOME": "/home/u0"}),
        ({"HOME": "/home/u", "IFS": "u"}, {}),
        ({"HOME": "/home/u", "IFS": "/"}, {}),
        ({"HOME": "/home/u v"}, {}),
        ({"HOME": "/home/*"}, {}),
        ({"HOME": "/home/../u"}, {}),
        ({"HOME": "/home/u/"}, {}),
        ({"HOME": "home"}, {}),
        ({"HOME": ""}, {}),
        ({}, {}),
    ],
)
def test_only_a_value_counts_that_no_shell_expands(
    environment: dict[str, str], known: dict[str, str]
) -> None:
    assert known_values(state(environment=environment)) == known


def test_a_shell_that_tells_nothing_has_no_known_values() -> None:
    assert known_values(None) == {}


def test_a_single_command_is_read_before_it_runs() -> None:
    assert words("export X=$HOME/x") == ("export", "X=/home/u/x")
    assert words("timeout 5 cat ~/x") == ("timeout", "5", "cat", "/home/u/x")
    assert words("for f in a; do time cat ~/x; done") == ("time", "cat", None)
    assert words("for f in a; do cat ~/x; done") == ("cat", "/home/u/x")
