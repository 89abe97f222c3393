import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.shell.globs import MAX_PATTERN, MAX_TEXT, Globs, fault_of

patterns = st.text("ab*?", min_size=1, max_size=12)
texts = st.text("ab", max_size=12)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("ls", "ls", True),
        ("ls", "lsx", False),
        ("ls", "LS", False),
        ("*", "", True),
        ("?", "", False),
        ("?", "\n", True),
        ("mkfs.*", "mkfs.ext4", True),
        ("mkfs.*", "mkfs", False),
        ("a*b*c", "axbxbxc", True),
        ("a*b*c", "axbxbx", False),
        ("*.py", "a.b.py", True),
        (r"\*", "*", True),
        (r"\*", "x", False),
        (r"\?*\\", "?abc\\", True),
        ("[a]", "a", False),
        ("[a]", "[a]", True),
        ("a.c", "abc", False),
    ],
)
def test_a_pattern_fits_the_whole_text_or_not_at_all(
    pattern: str, text: str, *, fits: bool
) -> None:
    assert fault_of(pattern) is None
    assert Globs.of([pattern]).fit(text) is fits


@given(patterns, texts)
def test_patterns_mean_what_they_mean_everywhere(pattern: str, text: str) -> None:
    assert Globs.of([pattern]).fit(text) is fnmatch.fnmatchcase(text, pattern)


@given(st.lists(patterns, min_size=1, max_size=4), texts)
def test_one_of_several_patterns_is_enough(given: list[str], text: str) -> None:
    fitting = [Globs.of([pattern]).fit(text) for pattern in given]

    assert Globs.of(given).fit(text) is any(fitting)


@given(patterns, texts)
def test_what_rules_patterns_out_never_rules_out_one_that_fits(
    pattern: str, text: str
) -> None:
    globs = Globs.of([pattern])

    if globs.wild is not None and globs.fit(text):
        assert globs.may_be_in(f"x\n{text}\ny")
        assert text.startswith(globs.prefixes[0])


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "empty"),
        ("x" * (MAX_PATTERN + 1), "long"),
        ("a\x1b", "seen"),
        ("a\u202eb", "seen"),
        ("a\\", "backslash"),
        (r"\d", "backslash"),
    ],
)
def test_a_pattern_that_means_nothing_is_told_why(pattern: str, why: str) -> None:
    assert why in (fault_of(pattern) or "")


def test_a_text_that_is_too_long_fits_no_wildcard_but_may_be_named() -> None:
    long = "x" * (MAX_TEXT + 1)

    assert not Globs.of(["*"]).fit(long)
    assert Globs.of(["*"]).fit(long[1:])
    assert Globs.of([]).fit("") is False


def test_no_text_makes_a_pattern_take_long() -> None:
    globs = Globs.of(["*a" * 60 + "*b"])

    assert not globs.fit("a" * MAX_TEXT)


def test_a_text_may_hold_a_part_that_one_of_several_patterns_fits() -> None:
    globs = Globs.of(["*.pem", "id_*"])

    assert globs.may_be_in("cat\nkey.pem")
    assert globs.may_be_in("cat\nid_rsa")
    assert not globs.may_be_in("cat\nnotes")
    assert not Globs.of(["notes"]).may_be_in("cat\nnotes")  # It has no wildcard.
