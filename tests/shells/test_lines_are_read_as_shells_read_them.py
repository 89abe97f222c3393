"""Whatever is read in a line is what the real shell makes of it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.shells.real_shells import World, complaint, installed, said

from holdfast.core.shell.shell_grammar import Grammar

TOKENS = [
    *("rm", "git", "put", "cat", "make", "cd src", "cd", "echo", "wc -l"),
    *(" ", " ", " ", " ", " ", ";", "; ", " && ", " || ", " | ", "&", " & ", "|&"),
    *("'", '"', "\\", "''", '""', "'a b'", '"a b"', "\\ ", "\\\\", "'\\'", '"\\"'),
    *(">", ">>", "<", "2>", "2>&1", ">&", "&>", ">|", "<>", "<<<", ">x", "> x"),
    *("<list", ">&2", "1>x", "12>x", "3", "2", ">!", ">>|", "&>>x", "<&-", "2>|"),
    *("$OPEN", '"$OPEN"', "$DASHED", "$HOME", "$", "$$", "$?", "${OPEN}", "$#", "$@"),
    *("$(put x)", '"$(put x)"', "`put x`", "$(", ")", "(", "(put x)", "$((1+2))"),
    *("$'\\x72m'", "$'a'", '$"a"', "\\x72m", "\\162m", "\\u0072m", "\\n", "'\\''"),
    *("*", "*.py", "./*.py", "?", "[", "]", "[ab]*", "**", "src/*", "*.none", "[a.py"),
    *("{a,b}", "{a..c}", "{", "}", "{}", "a{b,c}", "{rm,x}", "{ ", " }", "{a, b}"),
    *("~", "~/x", "x=~/y", "=ls", "=", "X=1", "X=1 ", "X+=1 ", "a=b", "X[0]=1", "%1"),
    *("#", " # x", "a#b", "^", "^a", "!", "! ", "!!", "!=", " ! ", "%self", "@", "+"),
    *("if ", "then ", "; then ", "; fi", "else ", "; else ", "fi", "; end", "end"),
    *("for f in ", "; do ", "; done", "$f", '"$f"', "while ", "until ", "do ", "done"),
    *("case a in ", "a) ", ";; ", "esac", "begin; ", "and ", "or ", "not ", "time "),
    *("command ", "builtin ", "exec ", "eval ", "noglob ", "- ", "function ", "switch"),
    *("-rf", "--", "-", "a", "b c", "x.py", "/dev/null", "src", "lib", "..", "."),
    *("\u00e9", "'\u00e9'", "\u00a0", "\u200b", "\t", "\x00", "\r", "\n", "\x1b[A"),
    *("(cd src && put x)", "if put; then rm x; fi", "for f in *.py; do put $f; done"),
    *("for f in *.py; put $f; end", "if put; rm x; end", "begin; put; end", "{ put; }"),
    *("<<'A'", "<<A", " <<-'A' ", "\nA", "\nA\n", "\nrm x\nA", "\n$(rm x)\nA", "\n"),
    *("[ a = b ]", "test a", "[ -v x ]", "[[ a ]]", "read x", "export X=1", "set x"),
]
lines = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=7).map("".join)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("shells"))


@pytest.mark.parametrize("grammar", installed())
@settings(max_examples=settings().max_examples * 2)
@given(line=lines)
@example(line=">x\r")
def test_nothing_runs_or_is_written_that_was_not_read(
    world: World, line: str, grammar: Grammar
) -> None:
    commands = said(line, grammar)
    if commands is not None:
        assert complaint(commands, world.run(line, grammar)) == ""
