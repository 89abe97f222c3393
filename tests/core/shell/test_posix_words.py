import pytest

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.open_words import OpenWord
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import Command, Way

BASH, ZSH, DASH = Grammar.BASH, Grammar.ZSH, Grammar.DASH
NAMES = OpenWord(has_slash=False)
NUMBER = OpenWord(has_slash=False, is_one=True)
ONE = OpenWord(is_one=True)
MANY = OpenWord()


def last(text: str, grammar: Grammar = BASH) -> Command:
    return read_line(text.encode(), grammar, ended=True)[-1]


@pytest.mark.parametrize(
    ("word", "may"),
    [
        ("*.py", OpenWord(tail=".py", has_slash=False, files=("", ".py"))),
        ("./*.py", OpenWord("./", ".py", has_slash=False, files=("./", ".py"))),
        ("a?b", OpenWord("a", "b", has_slash=False, files=("a", "b"))),
        ("a*b*c", OpenWord("a", "c", has_slash=False, files=("a", "c"))),
        ("a/*/b*c", OpenWord("a/", "c")),
        ("a*$X", OpenWord()),
        ("$X*", OpenWord()),
        ("*{a,b}", OpenWord("", "")),
        ("**/x", OpenWord(tail="/x")),
        ("src/[ab]", OpenWord("src/")),
        ("a{1..3}", OpenWord("a")),
        ("~/x", OpenWord(tail="/x", is_one=True)),
        ("~anna/x", OpenWord(tail="/x", is_one=True)),
        ("x=~/y", OpenWord("x=")),
        ("$X", MANY),
        ("$X/a", MANY),
        ('"$X"', ONE),
        ('"$X/a"', OpenWord(tail="/a", is_one=True)),
        ('a"$X"b', OpenWord("a", "b", is_one=True)),
        ("${X}", MANY),
        ('"${X%.py}"', ONE),
        ('"$@"', MANY),
        ("$?", NAMES),
        ('"$?"', NUMBER),
        ("$1", MANY),
        ("$((1 + 2))", NAMES),
        ('"$((1 + 2))"', NUMBER),
        ("$(a)", MANY),
        ('"$(a)"', ONE),
        ("`a`", MANY),
        ('"`a`"', ONE),
    ],
)
def test_what_a_word_may_become(word: str, may: OpenWord) -> None:
    command = last(f"put {word}")

    assert command.words == ("put", None)
    assert command.opens == (None, may)


@pytest.mark.parametrize(
    ("line", "may"),
    [
        (
            "for f in *.py; do put $f; done",
            OpenWord(has_slash=False, files=("", ".py")),
        ),
        (
            "for f in a/*.py; do put $f.x; done",
            OpenWord(files=("a/", ".py.x")),
        ),
        (
            'for f in *.py; do put "b$f"; done',
            OpenWord("b", ".py", has_slash=False, is_one=True, files=("b", ".py")),
        ),
        (
            'for f in *.py; do put "$f"; done',
            OpenWord("", ".py", has_slash=False, is_one=True, files=("", ".py")),
        ),
        ("for f in a b; do put $f; done", NAMES),
        ("for f in a/b c; do put $f; done", MANY),
        ("for f in a */b; do put $f; done", MANY),
        ("for f in a $x; do put $f; done", MANY),
        (
            "for f in *.py; do put ${f}; done",
            OpenWord(has_slash=False, files=("", ".py")),
        ),
        ("for f in *.py; do put ${f%.py}; done", NAMES),
        ('for f in *.py; do put "${f%.py}"; done', NUMBER),
        ("for f in *.py; do put ${g%.py}; done", MANY),
    ],
)
def test_what_the_variable_of_a_loop_may_be(line: str, may: OpenWord) -> None:
    assert last(line).opens == (None, may)


@pytest.mark.parametrize(
    ("line", "grammar", "words"),
    [
        ("put [ ] [", BASH, ("put", "[", "]", "[")),
        ("put a]b }", BASH, ("put", "a]b", "}")),
        ("put {} {a} {", DASH, ("put", "{}", "{a}", "{")),
        ("put {} x{}y", ZSH, ("put", "{}", "x{}y")),
        ("put a~b : :x a=b", BASH, ("put", "a~b", ":", ":x", "a=b")),
        (": =", BASH, (":", "=")),
        ("put $ a$", BASH, ("put", "$", "a$")),
        ('put "a$" "$ b" "c$|d"', BASH, ("put", "a$", "$ b", "c$|d")),
        ("put \"it's\" 'a\"b'", ZSH, ("put", "it's", 'a"b')),
        ("put '!a' \\!", BASH, ("put", "!a", "!")),
        ("put a! b", BASH, ("put", "a!", "b")),
        ('put "a! b" "!="', BASH, ("put", "a! b", "!=")),
        ('put !a "!b"', DASH, ("put", "!a", "!b")),
        (r"put $'a\n\t\\\'\"\x41\101z'", BASH, ("put", "a\n\t\\'\"AAz")),
        ("put $'' x", BASH, ("put", "", "x")),
        ("put a\\ b \\\\", BASH, ("put", "a b", "\\")),
        ("put a{; b", BASH, ("b",)),
        ("put {}; b", ZSH, ("b",)),
        ("put a}; b", BASH, ("b",)),
        ("put a~; b", BASH, ("b",)),
        ("put a=; b", BASH, ("b",)),
        ("put a#; b", BASH, ("b",)),
        ("put a!; b", DASH, ("b",)),
        ("put '';b", BASH, ("b",)),
        ('put "";b', BASH, ("b",)),
        ("put $'';b", BASH, ("b",)),
        ('put "$";b', BASH, ("b",)),
        ("put [;b", BASH, ("b",)),
        ("put *;b", BASH, ("b",)),
        ("put **;b", BASH, ("b",)),
        ("put $x;b", BASH, ("b",)),
        ("put `a`;b", BASH, ("b",)),
        ('put `a "b"`;b', BASH, ("b",)),
        ("put $(a);b", BASH, ("b",)),
        ("put ~;b", BASH, ("b",)),
        ("put >x;b", BASH, ("b",)),
        ("put 2>&1;b", BASH, ("b",)),
        ("put \\;;b", BASH, ("b",)),
        ("put '!a'", DASH, ("put", "!a")),
    ],
)
def test_words_are_what_the_shell_makes_of_them(
    line: str, grammar: Grammar, words: tuple[str, ...]
) -> None:
    assert last(line, grammar).words == words


@pytest.mark.parametrize(
    ("line", "grammar"),
    [
        (r"put $'\x01'", BASH),
        (r"put $'\x7f'", BASH),
        (r"put $'\xe9'", BASH),
        (r"put $'\u0041'", BASH),
        ("put $'a", BASH),
        ("put $'a' !", BASH),
        ("put '!a' $(b)", BASH),
        ("put \\!a $(b)", BASH),
        ('put "\\!"', BASH),
        ('put "a!b"', BASH),
        ('put "a\\', BASH),
        ('put "$(a', BASH),
        ('put "$%"', BASH),
        ("put `a", BASH),
        ("put `a\\b`", BASH),
        ('put "`a "b"`"', BASH),
        ("put $(a b", BASH),
        ("put $X[1]", ZSH),
        ("put $?a", ZSH),
        ("put $+X", ZSH),
        ("put {a", ZSH),
        ("put a}", ZSH),
        ("put a(b)", BASH),
        ("put 12<x", BASH),
        ("put {a}>x", BASH),
        ("put >&$X", BASH),
        ("put 2>&x", BASH),
        ("put >&12", BASH),
        ("put >&'x'", BASH),
        ("put <&x", BASH),
        ("put <", BASH),
        ("put < ", BASH),
        ("put < ;", BASH),
        ("put >>&x", BASH),
        ("put <1-5>x", ZSH),
        ("put <->x", ZSH),
        ("put a # b", ZSH),
        ("put >& x", ZSH),
        ("put >& x", DASH),
        ("put 'a''b'", ZSH),
        ("put <<é", BASH),
        ("put é", BASH),
    ],
)
def test_what_nobody_can_tell_is_not_read(line: str, grammar: Grammar) -> None:
    assert read_line(line.encode(), grammar, ended=True)[0].doubt


def test_dash_repeats_no_line_and_knows_no_other_quotes() -> None:
    for line in ("put '!a' $(b)", "put \\!a $(b)"):
        assert last(line, DASH).words == ("put", "!a", None)
    assert read_line(b"put $'a'", DASH, ended=True)[0].doubt
    assert read_line(b"put <<< a", DASH, ended=True)[0].doubt
    assert [one.words for one in read_line(b"put &>x", DASH, ended=True)] == [
        ("put",),
        (),
    ]


@pytest.mark.parametrize("start", ["<<E", "<<-E", "<< E", "<<'E'", '<<"E"', r"<<\E"])
def test_the_end_of_a_heredoc_may_be_told_in_six_ways(start: str) -> None:
    for behind in ("", " >x", ";b", "|b"):
        text = f"put {start}{behind}\na\nE"
        (one, *_) = read_line(text.encode(), BASH, ended=True)

        assert (one.words, one.redirections[0].target) == (("put",), "a"), behind


def test_several_commands_may_stand_in_backticks() -> None:
    commands = read_line(b"put `a; b`", Grammar.BASH, ended=True)

    assert [one.words for one in commands] == [("a",), ("b",), ("put", None)]


def test_in_zsh_more_is_left_open() -> None:
    assert last("put =ls", ZSH).opens == (None, MANY)
    assert last("put a=b", ZSH).words == ("put", "a=b")
    assert last('put ""=b', ZSH).words == ("put", "=b")
    assert last("put a~b", ZSH).opens == (None, OpenWord("a"))
    assert last("put a#b", ZSH).opens == (None, MANY)
    assert last("put $X:h", ZSH).opens == (None, MANY)
    assert last('put "$?."', ZSH).opens == (
        None,
        OpenWord(tail=".", has_slash=False, is_one=True),
    )
    assert last('put "a$X:h"', ZSH).opens == (None, OpenWord("a"))


@pytest.mark.parametrize(
    ("line", "way", "target", "may"),
    [
        ("put <x", Way.READ, "x", None),
        ("put <>x", Way.BOTH, "x", None),
        ("put >x", Way.WRITE, "x", None),
        ("put >>x", Way.APPEND, "x", None),
        ("put &>>x", Way.APPEND, "x", None),
        ("put >|x", Way.WRITE, "x", None),
        ("put >& x", Way.WRITE, "x", None),
        ("put 2>&1", Way.DUPLICATE, "1", None),
        ("put <&-", Way.DUPLICATE, "-", None),
        ("put <<< x", Way.TEXT, "x", None),
        ("put <<< $x", Way.TEXT, None, MANY),
        ("put >$x", Way.WRITE, None, MANY),
        ('put >"a/$x"', Way.WRITE, None, OpenWord("a/", is_one=True)),
        ("put > {a,b}", Way.WRITE, None, MANY),
    ],
)
def test_what_is_opened_is_told(
    line: str, way: Way, target: str | None, may: OpenWord | None
) -> None:
    (one,) = last(line).redirections

    assert (one.way, one.target, one.open) == (way, target, may)


@pytest.mark.parametrize("word", ['""[', "''[", 'a"b"['])
def test_a_bracket_behind_quotes_may_begin_a_pattern(word: str) -> None:
    assert last(f"put {word} x").words == ("put", None, "x")
