import pytest
from tests.cli.test_story import ANNA, BOT, Book

from holdfast.cli.story import Tone, actors_of
from holdfast.cli.story_commands import MAX_NAMED, REMEMBERED
from holdfast.wire.lines import Value

BEGAN: dict[str, Value] = {"number": 3, "client": None, "offset": 0, "line": "make\x1b"}


def began(**fields: Value) -> Book:
    return Book().add("began", 0, **{**BEGAN, **fields})


def test_a_command_is_told_with_who_ran_it() -> None:
    (line,) = began(trigger=BOT, authors=BOT).told()

    assert (line.actor, line.text) == (BOT, "ran command 3: make\\x1b")


def test_a_command_whose_line_another_typed_says_so() -> None:
    book = began(trigger=ANNA, authors=f"{BOT},{ANNA}")

    assert book.texts() == ["ran command 3: make\\x1b  — typed by bot"]
    assert [*actors_of(book.entries[0])] == [ANNA, BOT, ANNA]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"trigger": None}, "Command 3 started: make\\x1b"),
        ({"line": ""}, "Command 3 started: a line that the shell did not report"),
    ],
)
def test_a_command_of_nobody_known_is_the_sessions(
    fields: dict[str, Value], text: str
) -> None:
    (line,) = began(**fields).told()

    assert (line.actor, line.text, line.tone) == ("", text, Tone.QUIET)


def test_a_strange_entry_does_not_stop_the_story() -> None:
    assert Book().add("began").texts() == ["A command started."]
    assert Book().add("changed").texts() == []


def changed(book: Book, changes: str, first: int = 3, last: int = 3) -> list[str]:
    book.add("changed", 0, number=last, first=first, changes=changes, more=0)
    return book.texts()[-1:]


def test_what_a_command_changed_is_told_of_whoever_ran_it() -> None:
    book = began(trigger=BOT)
    said = changed(book, "+ alias 00 deploy\n~ variable 01 PATH\n- function  f\x20g")

    assert said == [
        "changed alias deploy (set), variable PATH, function f g (removed) (command 3)"
    ]
    assert book.told()[-1].actor == BOT


def test_many_changes_are_counted() -> None:
    many = "\n".join(f"~ variable 00 V{number}" for number in range(MAX_NAMED + 3))

    assert changed(Book(), many)[0].endswith("V7 and 3 more")


def test_what_is_not_listed_is_counted() -> None:
    book = Book().add("changed", 0, number=1, first=1, changes="", more=7)

    assert book.texts() == ["Command 1 changed 7 things"]


@pytest.mark.parametrize(
    ("changes", "first", "last", "text"),
    [
        ("~ alias 00 x", 3, 5, "Commands 3 to 5 changed alias x"),
        ("~ alias 00 x", 0, 0, "Something changed alias x"),
        ("?", 0, 0, "The state of the shell is not known for now."),
        (
            "= alias 00 x\n= alias 00 y",
            0,
            0,
            "The shell has 2 variables, aliases and functions.",
        ),
    ],
)
def test_what_nobody_is_named_for_is_the_sessions(
    changes: str, first: int, last: int, text: str
) -> None:
    assert changed(Book(), changes, first, last) == [text]


def test_no_change_is_not_worth_a_line() -> None:
    assert changed(Book(), "") == []


def test_what_is_remembered_of_commands_is_bounded() -> None:
    book = Book()
    for number in range(1, REMEMBERED + 2):
        book.add("began", 0, **{**BEGAN, "number": number, "trigger": BOT})

    assert changed(book, "~ alias 00 x", 1, 1) == ["Command 1 changed alias x"]
