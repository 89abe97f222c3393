import pytest

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.line_reader import MAX_COMMANDS, MAX_NESTED, MAX_WORDS
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import Command


def read(text: str, grammar: Grammar = Grammar.BASH) -> tuple[Command, ...]:
    return read_line(text.encode(), grammar, ended=True)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (";", "missing"),
        ("ls ;; ls", "compound"),
        ("ls && ", "missing"),
        ("| ls", "missing"),
        ("(" * (MAX_NESTED + 1) + "ls" + ")" * (MAX_NESTED + 1), "compound"),
        ("{ " * (MAX_NESTED + 1) + "ls" + "; }" * (MAX_NESTED + 1), "deeply"),
        ("ls >x " * (MAX_WORDS // 2 + 1), "words"),
        ("A=1 " * (MAX_WORDS + 1), "words"),
        ("a;" * MAX_COMMANDS + "a", "commands"),
        ("{ ls; } x", "compound"),
        ("if ls; fi", "compound"),
        ("ls)", "compound"),
        ("for f in a do ls; done", "compound"),
        ("for '' in a; do ls; done", "variable"),
        ("for f in a; do for f in b; do ls; done; done", "variable"),
        ("for http_proxy in a; do ls; done", "variable"),
        ("for path in a; do ls; done", "variable"),
        ("for fish_x in a; do ls; done", "variable"),
        ("for zle in a; do ls; done", "variable"),
        ("for precmd_functions in a; do ls; done", "variable"),
        ("for F in a; do ls; done", "variable"),
        ("for 'f' in a; do ls; done", "variable"),
        ("for f in a; do read f; done", "variable"),
        ("for f in a; do read $x; done", "variable"),
        ("for f in a; do f=1 ls; done", "variable"),
        ("for f in a; do $x f; done", "variable"),
        ("case a in esac > x", "compound"),
        ("l\u0455", "ASCII"),
        ("'l\u0455'", "ASCII"),
        ("%1", "job"),
    ],
)
def test_what_is_no_line_is_not_read(line: str, why: str) -> None:
    assert why in read(line)[0].doubt


def test_words_are_read_up_to_the_limit() -> None:
    assert not read("a " * MAX_WORDS)[0].doubt
    assert not read("a;" * MAX_COMMANDS)[0].doubt
    assert not read("{ " * MAX_NESTED + "ls" + "; }" * MAX_NESTED)[0].doubt


def test_the_words_of_the_grammar_are_told_with_every_command() -> None:
    first, second = read("if a; then b; fi")

    assert first.keywords == second.keywords == {"if", "then", "fi"}
    assert read("put if")[0].keywords == frozenset()


def test_what_is_in_a_loop_may_run_again() -> None:
    assert [one.again for one in read("a; for f in x; do b; done; c")] == [
        False,
        True,
        False,
    ]


def test_a_loop_that_moves_may_begin_anywhere() -> None:
    moving = read("for f in x; do a; cd $f; done; b")
    staying = read("for f in x; do (cd y && a); done; b")

    assert [one.folders for one in moving] == [(), (), ()]
    assert [one.folders for one in staying] == [("",), ("y",), ("",)]


def test_a_variable_that_is_set_elsewhere_does_no_harm() -> None:
    assert not read("for f in a; do read x; cat $f; done")[0].doubt
    assert not read("read f; for f in a; do cat $f; done; read f")[0].doubt


def test_a_redirection_behind_a_compound_command_is_its_first_command_s() -> None:
    first, second = read("{ cd x && ls; } > y")

    assert [one.target for one in first.redirections] == ["y"]
    assert "y" in first.names
    assert second.redirections == ()


def test_where_a_line_leads_depends_on_how_it_is_joined() -> None:
    folders = {
        "cd x && a": ("x",),
        "cd x || a": ("",),
        "cd x; a": ("x", ""),
        "! cd x && a": ("",),
        "cd x && b; a": ("x", ""),
        "cd x && b || a": ("", "x"),
        "b || cd x && a": ("", "x"),
        "b && a": ("",),
        "if cd x; then b; else a; fi": ("",),
        "if cd x; then a; fi": ("x",),
        "if cd x; then cd y; fi; a": ("x/y", "", "x"),
        "if cd x; then b; fi; a": ("x", ""),
        "if b; then cd x; fi; a": ("x", ""),
        "if b; then cd x; elif c; then d; fi; a": ("x", ""),
        "case b in *) cd x;; esac; a": ("", "x"),
        "case b in c) cd x;; *) a;; esac": ("",),
        "b & a": ("",),
        "cd x & a": (),
        "b | c; a": ("",),
        "cd x | b; a": (),
        "while cd x; do a; done": (),
        "put $(cd x); a": ("",),
        "put `cd x` && a": ("",),
        "(cd x); a": ("",),
        "{ cd x; }; a": ("x", ""),
    }

    found = {line: read(line) for line in folders}

    for line, commands in found.items():
        (one,) = (one for one in commands if one.words == ("a",))
        assert one.folders == folders[line], line


def test_a_line_may_have_nothing_in_it() -> None:
    assert read("") == read("  ") == (Command(),)
    assert read("# nothing") == (Command(),)


def test_what_is_assigned_in_quotes_is_known() -> None:
    (command,) = read("A='b c' d")

    assert [(one.name, one.value) for one in command.assignments] == [("A", "b c")]
