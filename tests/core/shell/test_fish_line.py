import pytest

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.open_words import OpenWord
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import Command, Way

MANY = OpenWord()
ONE = OpenWord(is_one=True)


def read(text: str) -> tuple[Command, ...]:
    return read_line(text.encode(), Grammar.FISH, ended=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r"\x72m \X72 \162 \u0072 \U00000072", ("rm", "r", "r", "r", "r")),
        (r"put 'a\'b\\c\d'", ("put", "a'b\\c\\d")),
        (r'put "a\"b\\c\$d\e"', ("put", 'a"b\\c$d\\e')),
        (r"put \$x \  \(a\)", ("put", "$x", " ", "(a)")),
        ("put a~b a%b a^b a#b !a", ("put", "a~b", "a%b", "a^b", "a#b", "!a")),
        ("put [ ] [a] a]", ("put", "[", "]", "[a]", "a]")),
        ("put x{a,b}", ("put", "xa", "xb")),
        ("put {a,b}{c,d}", ("put", "ac", "bc", "ad", "bd")),
        ("put a # b", ("put", "a")),
    ],
)
def test_words_are_what_fish_makes_of_them(line: str, words: tuple[str, ...]) -> None:
    assert read(line)[-1].words == words


@pytest.mark.parametrize(
    ("word", "may"),
    [
        ("$x", MANY),
        ("$$x", MANY),
        ('"$x"', ONE),
        ('"$(a)/b"', OpenWord(tail="/b", is_one=True)),
        ("(a)", MANY),
        ("x(a; b)y", OpenWord("x", "y")),
        ("$(a)", MANY),
        ("()", MANY),
        ("*.py", OpenWord(tail=".py", has_slash=False, files=("", ".py"))),
        ("a?", OpenWord("a", has_slash=False, files=("a", ""))),
        ("**.py", OpenWord(tail=".py")),
        ("~/x", OpenWord(tail="/x", is_one=True)),
    ],
)
def test_what_a_word_may_become(word: str, may: OpenWord) -> None:
    assert read(f"put {word}")[-1].opens == (None, may)


@pytest.mark.parametrize(
    "word", ["$x", "(a)", "''", '""', '"$x"', "*", "**", "~", "{a,b}", r"\;", r"\x72"]
)
def test_a_word_ends_where_the_next_command_may_begin(word: str) -> None:
    assert read(f"put {word};b")[-1].words == ("b",)
    assert read(f"put {word}|b")[-1].words == ("b",)


def test_a_loop_s_variable_is_one_word() -> None:
    value = OpenWord(tail=".py", has_slash=False, is_one=True, files=("", ".py"))

    assert read("for f in *.py; put $f; end")[0].opens == (None, value)
    assert read('for f in *.py; put "$f"; end')[0].opens == (None, value)
    assert read("for f in *.py; put $$f; end")[0].opens == (None, MANY)
    assert read("for f in *.py; a; end; put $f")[-1].opens == (None, MANY)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("a; b && c || d | e & f", "abcdef"),
        ("if a; b; else if c; d; else; e; end; f", "abcdef"),
        ("while a; b; end; c", "abc"),
        ("for f in x y; a; b; end", "ab"),
        ("switch x; case a b; a; case '*'; b; end; c", "abc"),
        ("begin; a; b; end; begin c; end", "abc"),
        ("not a; and b; or ! c", "abc"),
        ("a; ; b;", None),
        ("begin; ; end; a", "a"),
        ("begin;;a;end;b", "ab"),
        ("if a;b;else if c;d;else;e;end;f", "abcdef"),
        ("while a;b;end;c", "abc"),
        ("for f in x;a;end;b", "ab"),
        ("switch x;case a;a;case b;b;end;c", "abc"),
        ("not a;and b;or c", "abc"),
        ("a&&b||c|d", "abcd"),
    ],
)
def test_every_command_is_found_wherever_it_stands(
    line: str, names: str | None
) -> None:
    found = read(line)

    assert bool(found[0].doubt) is (names is None)
    if names is not None:
        assert [one.words for one in found] == [(name,) for name in names]


@pytest.mark.parametrize(
    "line",
    [
        "put \\n",
        "put \\",
        "put \\x7",
        "put \\x01",
        "put \\u0e9f",
        "put \\U0000007",
        "put 'a",
        'put "a',
        'put "a\\',
        'put "$"',
        "put $",
        "put $x[1]",
        "put (a)[1]",
        "put (a",
        "put (a; end",
        "switch x; a; end",
        "put x[1]",
        "put {a}",
        "put {a, b}",
        "put ^a",
        "put %self",
        "put é",
        "put `a`",
        "put a&b",
        "put a2>x",
        "put >x|",
        "put >?x",
        "put >&x",
        "put >&$x",
        "put <<x",
        "put >",
        "put > ;",
        "put > | a",
        "> x put",
        "X=1",
        "$x",
        "(a)",
        "end",
        "{ a }",
        "'if' a",
        "time >x",
        "function f; a; end",
        "if a; b",
        "else; a; end",
        "for f in a",
        "switch a b; end",
        "begin; a",
    ],
)
def test_what_nobody_can_tell_is_not_read(line: str) -> None:
    assert read(line)[0].doubt


@pytest.mark.parametrize(
    ("line", "way", "target", "may"),
    [
        ("put <x", Way.READ, "x", None),
        ("put >x", Way.WRITE, "x", None),
        ("put >>x", Way.APPEND, "x", None),
        ("put &>x", Way.WRITE, "x", None),
        ("put &>>x", Way.APPEND, "x", None),
        ("put 2>&1", Way.DUPLICATE, "1", None),
        ("put >$x", Way.WRITE, None, MANY),
        ("put >{a,b}", Way.WRITE, None, MANY),
    ],
)
def test_what_is_opened_is_told(
    line: str, way: Way, target: str | None, may: OpenWord | None
) -> None:
    (one,) = read(line)[-1].redirections

    assert (one.way, one.target, one.open) == (way, target, may)


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("cd x && a", ("x",)),
        ("cd x; and a", ("x", "")),
        ("cd x; or a", ("x", "")),
        ("not cd x; a", ("", "x")),
        ("begin; cd x; end; a", ()),
        ("begin; b; end; a", ("",)),
        ("put (cd x); a", ("x", "")),
        ("if b; cd x; end; a", ()),
        ("if b; c; else; cd x; end; a", ()),
        ("for f in y; a; cd x; end", ()),
        ("while b; a; end", ("",)),
        ("switch y; case z; cd x; end; a", ()),
        ("./x; a", ()),
    ],
)
def test_where_a_line_leads(line: str, folders: tuple[str, ...]) -> None:
    (one,) = (one for one in read(line) if one.words == ("a",))

    assert one.folders == folders
