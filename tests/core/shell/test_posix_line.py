import pytest

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.line_reader import MAX_WORDS
from holdfast.core.shell.open_words import OpenWord
from holdfast.core.shell.posix_line import value_of
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.shell_lexeme import LexemeBuilder

BASH, ZSH, DASH = Grammar.BASH, Grammar.ZSH, Grammar.DASH


def words(text: str, grammar: Grammar = BASH) -> list[tuple[str | None, ...]]:
    return [one.words for one in read_line(text.encode(), grammar, ended=True)]


def doubt(text: str, grammar: Grammar = BASH) -> str:
    return read_line(text.encode(), grammar, ended=True)[0].doubt


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("a; b && c || d | e & f |& g", "abcdefg"),
        ("if a; then b; elif c; then d; else e; fi; f", "abcdef"),
        ("while a; do b; done; until c; do d; done", "abcd"),
        ("for f in x y; do a; b; done", "ab"),
        ("case x in (a|b) a;; c) ;; *) b; esac", "ab"),
        ("case x in a) a;; esac; b", "ab"),
        ("{ a; b; }; (c; d)", "abcd"),
        ("! a && ! { b; }", "ab"),
        ("( (a); b )", "ab"),
        ("if (a) then b; fi", "ab"),
        ("{(a); b; }", "ab"),
        ("if a;then b;else c;fi;d", "abcd"),
        ("while a;do b;done;c", "abc"),
        ("for f in x;do a;done;b", "ab"),
        ("case x in(a|b)a;;c)b;esac;c", "abc"),
        ("case x in ( a | b ) a ;; c ) b ;; esac ; c", "abc"),
        ("case x in a)a;;*)b;;esac&&c", "abc"),
        ("(a;b)&&c||d|e&f", "abcdef"),
        ("!(a)", "a"),
    ],
)
def test_every_command_is_found_wherever_it_stands(line: str, names: str) -> None:
    for grammar in (BASH, ZSH, DASH):
        if grammar is BASH or "|&" not in line:
            found = words(line, grammar)
            assert found == [(name,) for name in names], grammar


@pytest.mark.parametrize(
    "line",
    [
        "((a))",
        "( (a)",
        "{ a }",
        "(a; b",
        "then a",
        "a; done",
        "if a; then b",
        "if a then b; fi",
        "for f; do a; done",
        "for f of a; do b; done",
        "case x in a b) c;; esac",
        "case x in a) b",
        "case x of a) b;; esac",
        "select x in a; do b; done",
        "function f { a; }",
        "f () { a; }",
        "case x in |a) b;; esac",
        "( )",
        "{ }",
        "if then a; fi",
        "if a; then fi",
        "while do a; done",
        "while a; do done",
        "case x in a|) b;; esac",
        "a[1]=b",
        "X=1 { a; }",
        ">x if a; then b; fi",
        "$(a",
    ],
)
def test_what_the_three_do_not_agree_on_is_not_read(line: str) -> None:
    assert doubt(line)


BEFORE = ["-", "builtin", "command", "exec", "nocorrect", "noglob", "time"]


@pytest.mark.parametrize("before", [*BEFORE, " ".join(BEFORE)])
def test_in_zsh_words_that_stand_before_a_command_are_none(before: str) -> None:
    assert "no command" in doubt(f"{before} <x", ZSH)
    assert words(f"{before} ls", ZSH) == [(*before.split(), "ls")]


def test_only_in_zsh_braces_may_not_stand_for_the_command() -> None:
    assert "brace" in doubt("{a,b}", ZSH)
    assert words("{a,b}") == [("a", "b")]


def test_the_patterns_of_a_case_are_counted_as_words() -> None:
    line = f"case x in {'|'.join('a' * MAX_WORDS)}|a) b;; esac"

    assert "words" in doubt(line)
    assert "words" in doubt(f"for f in {'a ' * MAX_WORDS}; do b; done")


def test_zsh_runs_a_program_for_a_redirection_alone() -> None:
    assert "no command" in doubt("<x", ZSH)
    assert "no command" in doubt("X=1", ZSH)
    assert words("<x") == words("X=1") == [()]


def test_an_element_of_an_array_is_told_from_a_pattern() -> None:
    assert "array" in doubt("a[1]=2")
    assert "array" in doubt("a[1][2]=3")
    assert words("put a[1]=2") == [("put", None)]
    assert words("./a[1]") == [(None,)]


def test_the_variable_of_a_loop_is_one_word_at_a_time() -> None:
    words = []
    for text in ("a", "b/c"):
        word = LexemeBuilder()
        word.add(text)
        words.append(word.built())

    assert value_of(words) == OpenWord(has_slash=True, is_one=True)
    assert value_of(words[:1]) == OpenWord(has_slash=False, is_one=True)
