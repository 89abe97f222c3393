import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.shell.globs import Globs
from holdfast.core.shell.open_words import ANYTHING, OpenWord

NAMES = OpenWord(tail=".py", has_slash=False)
BELOW = OpenWord("./", ".py", has_slash=False)
FILE = OpenWord(tail="/a", is_one=True)

text = st.text("ab/.", max_size=4)
pattern = st.text("ab/.*?", min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("word", "fitting", "may", "loosely"),
    [
        (ANYTHING, "--output", True, True),
        (ANYTHING, "*/holdfast/*", True, True),
        (NAMES, "policy.toml", False, False),
        (NAMES, "*/holdfast/*", False, False),
        (NAMES, "-o*", True, True),
        (NAMES, "x.py", True, True),
        (NAMES, "x/y.py", False, False),
        (NAMES, ".p", False, False),
        (BELOW, "-o*", False, True),
        (BELOW, "x.py", False, True),
        (BELOW, "x*", False, True),
        (BELOW, "./x.py", True, True),
        (BELOW, "./y/x.py", False, False),
        (BELOW, "?/*/*", False, False),
        (FILE, "a", False, True),
        (FILE, "b", False, False),
        (FILE, "x/a", True, True),
        (FILE, "*b", False, False),
        (OpenWord("a/", "/b", has_slash=False), "a/x/b", True, True),
        (OpenWord("a/", "/b", has_slash=False), "a/x/y/b", False, False),
        (OpenWord("x/y", has_slash=False), "y*", False, True),
        (OpenWord("x/", "/y", has_slash=False), "*/*/*", True, True),
        (OpenWord("x/", "/y", has_slash=False), "*/*/*/*", False, False),
        (OpenWord("x"), "xy*", True, True),
        (OpenWord("xy"), "x*", True, True),
        (OpenWord(tail="y"), "*xy", True, True),
        (OpenWord(tail="xy"), "*y", True, True),
        (OpenWord("x"), "y*", False, True),
        (OpenWord("ab", "bc"), "abc", False, True),
        (OpenWord("ab", "bc"), "abbc", True, True),
        (OpenWord("a", "b"), "a/b", True, True),
        (OpenWord("x/y", has_slash=False), "z*", False, False),
    ],
)
def test_a_word_may_become_what_its_ends_leave_open(
    word: OpenWord, fitting: str, *, may: bool, loosely: bool
) -> None:
    globs = Globs.of([fitting])

    assert word.may_fit(globs) is may
    assert word.may_fit_loosely(globs) is loosely


@given(head=text, between=text, tail=text, has_slash=st.booleans(), pattern=pattern)
def test_i1_whatever_it_becomes_it_may_fit_what_that_fits(
    *, head: str, between: str, tail: str, has_slash: bool, pattern: str
) -> None:
    word = OpenWord(head, tail, has_slash=has_slash or "/" in between)
    whole = head + between + tail
    globs = Globs.of([pattern])

    assert not whole or word.may_fit(Globs.of([whole]))
    assert word.may_fit(globs) or not globs.fit(whole)
    name = whole.rsplit("/", 1)[-1]
    assert word.may_fit_loosely(globs) or not globs.fit(name)


@pytest.mark.parametrize(
    ("head", "may"), [("", True), ("-", True), ("./", False), ("a", False)]
)
def test_what_begins_like_no_option_is_none(head: str, *, may: bool) -> None:
    assert OpenWord(head).may_be_option is may
