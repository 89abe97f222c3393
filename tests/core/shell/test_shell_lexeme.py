from holdfast.core.shell.globs import MAX_TEXT
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.shell_lexeme import MAX_CHOICES, LexemeBuilder

NAME = OpenWord(has_slash=False)


def test_text_stays_as_it_is() -> None:
    word = LexemeBuilder()
    word.add("a")
    word.add("b", is_quoted=True)
    word.add("c")

    built = word.built()

    assert (built.text, built.prefix, built.open) == ("abc", "a", None)
    assert built.has_quotes
    assert not built.is_bare


def test_of_several_texts_there_is_a_word_each() -> None:
    word = LexemeBuilder()
    word.add("x")
    word.choose(("a", "b"))
    word.choose(("1", "2"))

    built = word.built()

    assert built.texts == ("xa1", "xa2", "xb1", "xb2")
    assert built.text is None


def test_too_many_texts_are_left_open() -> None:
    word = LexemeBuilder()
    word.add("x")
    word.choose(tuple(map(str, range(MAX_CHOICES + 1))))
    word.add("y")

    assert word.built().open == OpenWord("x", "y")


def test_a_gap_leaves_the_ends_known() -> None:
    word = LexemeBuilder()
    word.add("a/")
    word.gap(NAME)
    word.add(".b")
    word.gap(OpenWord("c", "d", has_slash=False, is_one=True))

    assert word.built().open == OpenWord("a/", "d", has_slash=False)


def test_a_slash_between_two_gaps_counts() -> None:
    word = LexemeBuilder()
    word.gap(NAME)
    word.add("/")
    word.gap(NAME)

    assert word.built().open == OpenWord(has_slash=True)


def test_what_is_split_has_no_ends() -> None:
    for slash in ("", "/"):
        word = LexemeBuilder()
        word.add("a")
        word.gap(NAME, splits=True)
        word.add(slash)

        assert word.built().open == OpenWord(has_slash=bool(slash))


def test_a_slash_between_two_gaps_of_what_is_split_counts() -> None:
    word = LexemeBuilder()
    word.gap(NAME, splits=True)
    word.add("/")
    word.gap(NAME)

    assert word.built().open == OpenWord(has_slash=True)


def test_the_rest_of_a_word_can_be_left_open() -> None:
    word = LexemeBuilder()
    word.add("a")
    word.rest()
    word.add("b")
    assert word.built().open == OpenWord("a")

    word = LexemeBuilder()
    word.add("a")
    word.rest(is_headless=True)
    assert word.built().open == ANYTHING


def test_a_word_that_is_too_long_is_not_known() -> None:
    word = LexemeBuilder()
    word.add("x" * (MAX_TEXT + 1))

    assert word.built().open == OpenWord(has_slash=False)


def test_the_ends_of_a_word_are_known_up_to_that_length() -> None:
    for length, may in ((0, "x"), (1, "")):
        word = LexemeBuilder()
        word.add("x" * (MAX_TEXT - 1 + length))
        word.gap(NAME)
        word.add("y")

        assert word.built().open == OpenWord(
            may * (MAX_TEXT - 1), "y" if may else "", has_slash=False
        )


def test_one_that_is_too_long_in_braces_neither() -> None:
    word = LexemeBuilder()
    word.choose(("x", "x" * (MAX_TEXT + 1)))

    assert word.built().texts == ()
