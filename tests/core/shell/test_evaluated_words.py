import pytest

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_grammar import Grammar

BASH, ZSH, DASH = Grammar.BASH, Grammar.ZSH, Grammar.DASH


def doubt(text: str, grammar: Grammar = BASH) -> str:
    return read_line(text.encode(), grammar, ended=True)[0].doubt


@pytest.mark.parametrize(
    ("line", "grammar", "runs"),
    [
        ("test -f 'a[b'", BASH, False),
        ("test -v x", BASH, False),
        ("test -v 'a[b]'", BASH, True),
        ('test -v "$x"', BASH, True),
        ("test $x", BASH, True),
        ('test "$x"', BASH, False),
        ('test "$x" $y', BASH, True),
        ("[ 1 -eq 'a[b]' ]", BASH, False),
        ("[ 1 -eq 'a[b]' ]", ZSH, True),
        ("[ -f '[' ]", ZSH, False),
        ("printf %s 'a[b]' \"$x\"", BASH, False),
        ("printf -v 'a[b]'", BASH, True),
        ("printf \"$x\" 'a[b]'", BASH, True),
        ("printf", BASH, False),
        ("printf %d 'a[b]'", ZSH, True),
        ("read x", BASH, False),
        ("read 'a[b]'", BASH, True),
        ("read 'a[b]'", DASH, False),
        ("exit 'a[b]'", BASH, False),
        ("exit 'a[b]'", ZSH, True),
        ("put 'a[b]'", BASH, False),
        ("builtin unset 'a[b]'", BASH, True),
        ("command -p unset 'a[b]'", BASH, True),
        ("command -v unset", BASH, False),
    ],
)
def test_what_a_builtin_would_evaluate_is_not_read(
    line: str, grammar: Grammar, *, runs: bool
) -> None:
    assert ("its words" in doubt(line, grammar)) is runs


@pytest.mark.parametrize(
    ("line", "grammar", "runs"),
    [
        ("let x", BASH, True),
        ("let 1+1", BASH, False),
        ("declare -i n=x", BASH, True),
        ("typeset -ri n=x", BASH, True),
        ("declare -i 1", BASH, False),
        ("declare n=x", BASH, False),
        ("shift x", BASH, False),
        ("[ x -eq 1 ]", BASH, False),
        ("printf %d x", BASH, False),
        ("print -f %d x", BASH, False),
        ("break x", ZSH, True),
        ("break 2", ZSH, False),
        ("shift x", ZSH, True),
        ("logout x", ZSH, True),
        ("[ -t x ]", ZSH, True),
        ("[ -t 1 ]", ZSH, False),
        ("[ x -eq 1 ]", ZSH, True),
        ("[ 1 -lt x ]", ZSH, True),
        ("[ -f x -a 1 -eq 1 ]", ZSH, False),
        ("printf %d x", ZSH, True),
        ("printf %d 5", ZSH, False),
        ("printf '%*s' x 1", ZSH, True),
        (r"printf '\u0025d' x", ZSH, True),
        ("printf -v n %d x", ZSH, True),
        (r"printf '%s - %-5s %%\n' x", ZSH, False),
        ("print -f %d x", ZSH, True),
        ("print x", ZSH, False),
        ("kill x", ZSH, False),
    ],
)
def test_a_name_in_a_sum_may_hold_anything(
    line: str, grammar: Grammar, *, runs: bool
) -> None:
    assert ("its words" in doubt(line, grammar)) is runs
