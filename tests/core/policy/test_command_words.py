import pytest

from holdfast.core.policy.command_words import Match, WordPatterns, both
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.globs import Globs
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import Command

YES, NO, MAYBE = Match.YES, Match.NO, Match.MAYBE


def command(text: str) -> Command:
    return read_line(text.encode(), Grammar.BASH, ended=True)[-1]


def sequences(*texts: str) -> tuple[tuple[Globs, ...], ...]:
    return tuple(tuple(Globs.of([word]) for word in text.split()) for text in texts)


FIRST = WordPatterns(first=Globs.of(["rm", "mk*"]))
ANY = WordPatterns(any=Globs.of(["--force", "*.key"]))
SEQUENCE = WordPatterns(sequence=sequences("git push", "hg push"))
EXACT = WordPatterns(exact=sequences("make test"))
BOTH = WordPatterns(first=Globs.of(["rm"]), any=Globs.of(["-r*"]))
TRIPLE = WordPatterns(sequence=sequences("a b c"))
MIXED = WordPatterns(first=Globs.of(["git"]), exact=sequences("git push"))


@pytest.mark.parametrize(
    ("patterns", "text", "allowing", "preventing"),
    [
        (FIRST, "rm x", YES, YES),
        (FIRST, "mkfs x", YES, YES),
        (FIRST, "ls rm", NO, NO),
        (FIRST, "/bin/rm x", NO, YES),
        (FIRST, "/bin/ls x", NO, NO),
        (ANY, "cat x/y", NO, NO),
        (ANY, "cat x/y.key", YES, YES),
        (WordPatterns(any=Globs.of(["key"])), "cat x/key", NO, YES),
        (WordPatterns(any=Globs.of(["key"])), "cat x/y", NO, NO),
        (WordPatterns(any=Globs.of(["key"])), 'cat "$X"', MAYBE, MAYBE),
        (WordPatterns(any=Globs.of(["key"])), 'cat "$X.py"', NO, NO),
        (WordPatterns(any=Globs.of(["key"])), "cat *.py", NO, NO),
        (FIRST, "$X rm", MAYBE, YES),
        (FIRST, "$X ls", MAYBE, MAYBE),
        (FIRST, '"l$X" a', NO, MAYBE),
        (FIRST, '"r$X" a', MAYBE, MAYBE),
        (FIRST, "X=1", NO, NO),
        (FIRST, "X=1 rm", MAYBE, YES),
        (FIRST, "rm > x", MAYBE, YES),
        (FIRST, "sudo rm", NO, YES),
        (FIRST, "sudo /sbin/mkfs", NO, YES),
        (FIRST, "sudo ls", NO, NO),
        (FIRST, "sudo $X", NO, MAYBE),
        (FIRST, "sh -c 'x; mkfs.ext4'", NO, YES),
        (FIRST, "sh -c x", NO, MAYBE),
        (FIRST, "echo $((rm))", MAYBE, YES),
        (FIRST, "echo $((ls))", MAYBE, MAYBE),
        (EXACT, "sudo make test", NO, YES),
        (EXACT, "sudo make all", NO, NO),
        (EXACT, "sh -c 'make test'", NO, YES),
        (EXACT, "sh -c 'make all'", NO, MAYBE),
        (EXACT, "sh -c 'test make'", NO, MAYBE),
        (ANY, "sh -c 'cat a.key'", YES, YES),
        (ANY, "sh -c 'cat a.key.txt'", NO, MAYBE),
        (ANY, "sudo cat a.key.txt", NO, NO),
        (ANY, "x --force", YES, YES),
        (ANY, "x a.key", YES, YES),
        (ANY, "x y/--force", NO, YES),
        (ANY, "x > a.key", NO, YES),
        (ANY, "x > $Y", NO, MAYBE),
        (ANY, "x y", NO, NO),
        (ANY, "x key.", NO, NO),
        (ANY, "x .key.", NO, NO),
        (ANY, "x $Y", MAYBE, MAYBE),
        (ANY, "$((x)) --force", MAYBE, YES),
        (SEQUENCE, "git push", YES, YES),
        (SEQUENCE, "hg push -f", YES, YES),
        (SEQUENCE, "git -C x push", NO, YES),
        (SEQUENCE, "/bin/git push", NO, YES),
        (SEQUENCE, "git pull", NO, NO),
        (SEQUENCE, "git", NO, NO),
        (SEQUENCE, "push git", NO, NO),
        (SEQUENCE, "X=1", NO, NO),
        (SEQUENCE, "git $X", MAYBE, MAYBE),
        (SEQUENCE, "git $X push", MAYBE, YES),
        (SEQUENCE, "$X push", MAYBE, MAYBE),
        (SEQUENCE, "env git push", NO, YES),
        (SEQUENCE, "env push git", NO, NO),
        (SEQUENCE, "git push <<x", MAYBE, YES),
        (SEQUENCE, "push git <<x", MAYBE, MAYBE),
        (EXACT, "make test", YES, YES),
        (EXACT, "make test x", NO, NO),
        (EXACT, "make", NO, NO),
        (EXACT, "make test $X", MAYBE, MAYBE),
        (EXACT, "make test $X y", NO, NO),
        (EXACT, "make $X", MAYBE, MAYBE),
        (EXACT, "time make test", NO, YES),
        (EXACT, "make test <<x", MAYBE, YES),
        (BOTH, "rm -rf x", YES, YES),
        (BOTH, "rm x", NO, NO),
        (BOTH, "ls -r", NO, NO),
        (BOTH, "rm $X", MAYBE, MAYBE),
        (BOTH, "$X -r", MAYBE, MAYBE),
        (BOTH, "rm x <<x", MAYBE, MAYBE),
        (MIXED, "git push", YES, YES),
        (MIXED, "git pull", NO, NO),
        (MIXED, "hg push", NO, NO),
        (FIRST, '"$X" y', MAYBE, MAYBE),
        (FIRST, 'a"$X" y', NO, MAYBE),
        (FIRST, './"$X" y', NO, MAYBE),
        (FIRST, 'm"$X" y', MAYBE, MAYBE),
        (ANY, "x ./*.py", NO, NO),
        (ANY, "x *.py", NO, NO),
        (ANY, "x *.key", MAYBE, MAYBE),
        (ANY, "x --f*", MAYBE, MAYBE),
        (ANY, "x > ./$Y", NO, MAYBE),
        (ANY, 'x > "./$Y.py"', NO, NO),
        (ANY, "Z=$Y x", NO, MAYBE),
        (SEQUENCE, 'git "$X" push', MAYBE, YES),
        (SEQUENCE, 'git "x$X"', NO, MAYBE),
        (SEQUENCE, 'git "pu$X"', MAYBE, MAYBE),
        (SEQUENCE, 'git "pu$X" x', MAYBE, MAYBE),
        (SEQUENCE, "git *.py", MAYBE, NO),
        (SEQUENCE, "/bin/g* push", MAYBE, MAYBE),
        (SEQUENCE, '"/bin/x$X" push', NO, MAYBE),
        (TRIPLE, "a $X", MAYBE, MAYBE),
        (TRIPLE, 'a "$X"', MAYBE, NO),
        (TRIPLE, 'a "$X" c', MAYBE, MAYBE),
        (TRIPLE, 'a "$X" d', MAYBE, NO),
        (TRIPLE, "a b c*", MAYBE, MAYBE),
        (EXACT, 'make test "$X"', NO, NO),
        (EXACT, "make test *.py", MAYBE, MAYBE),
        (EXACT, 'make "$X"', MAYBE, MAYBE),
        (EXACT, 'make "x$X"', NO, NO),
    ],
)
def test_to_allow_a_rule_must_be_sure_and_to_prevent_it_cannot_be_evaded(
    patterns: WordPatterns, text: str, allowing: Match, preventing: Match
) -> None:
    given = command(text)

    assert patterns.allowing(given) is allowing
    assert patterns.preventing(given) is preventing


def test_what_must_fit_both_fits_as_well_as_the_worse_i1() -> None:
    assert both(YES, YES) is YES
    assert both(YES, MAYBE) is both(MAYBE, YES) is MAYBE
    assert both(NO, MAYBE) is both(YES, NO) is NO


@pytest.mark.parametrize("text", ["$((x))", "x\x1b", "a\nb", "sh -c x", "((x))"])
@pytest.mark.parametrize("patterns", [FIRST, ANY, SEQUENCE, EXACT, BOTH])
def test_what_cannot_be_read_is_never_ruled_out_i2(
    patterns: WordPatterns, text: str
) -> None:
    assert patterns.preventing(command(text)) is not NO
    assert patterns.allowing(command(text)) is not YES


def test_what_must_be_there_is_named_where_that_is_sure() -> None:
    assert EXACT.needed_words() == {"make", "test"}
    assert SEQUENCE.needed_words() == frozenset()
    wild = WordPatterns(sequence=sequences("git pu*"))
    assert wild.needed_words() == {"git"}
    assert ANY.needed_texts() == ("",)
    assert WordPatterns(any=Globs.of(["*.key", "a*"])).needed_texts() == (".key", "a")
    assert EXACT.needed_texts() == ("",)


def test_the_first_words_that_can_fit_are_named_where_a_rule_names_them() -> None:
    assert FIRST.first_words() == [FIRST.first]
    assert [globs.literals for globs in SEQUENCE.first_words()] == [{"git"}, {"hg"}]
    assert [globs.literals for globs in EXACT.first_words()] == [{"make"}]
    assert ANY.first_words() == []
