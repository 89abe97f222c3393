from holdfast.core.overview.acts import Leave
from holdfast.core.overview.dialogs import (
    GONE,
    MAX_ENTRY,
    UNREAD,
    Entry,
    Question,
    Review,
)
from holdfast.core.overview.sessions import Key, Look, Row, Waiting

KEY: Key = ("", "s_a")
FIRST = Waiting(1, b"one", tuple(f"line {at}" for at in range(10)))
SECOND = Waiting(2, b"two", ("short",))


def row(*waiting: Waiting) -> Row:
    return Row("", "s_a", "build", look=Look(pending=waiting))


def review(*waiting: Waiting, room: int = 4) -> Review:
    made = Review(KEY, "build")
    made.look(row(*waiting))
    made.fit(80, room)
    return made


def test_letters_are_typed_and_taken_back() -> None:
    entry = Entry("name", "name")
    for name in ("a", "b", " ", "c", "BSpace", "Up"):
        entry.press(name)
    assert entry.text == "ab "

    entry.type("one two")
    entry.press("C-w")
    assert entry.text == "ab one"
    entry.press("C-a")
    entry.press("x")
    entry.press("C-k")
    assert entry.text == "x"
    entry.press("C-u")
    assert entry.text == ""


def test_what_is_pasted_is_one_line_of_text() -> None:
    entry = Entry("name", "name")
    entry.type("a\r\n\x1b[2Jb\u202e" + "x" * 2 * MAX_ENTRY)

    assert entry.text.startswith("a[2Jbx")
    assert len(entry.text) == MAX_ENTRY


def test_a_question_knows_what_is_done_after_a_yes() -> None:
    assert Question("sure?", Leave()).effect == Leave()


def test_there_is_nothing_to_decide_before_it_was_looked_at() -> None:
    empty = review()

    assert empty.lines(80) == ["looking…"]
    assert empty.hindrance(approves=True) == GONE
    empty.turn(1)
    assert empty.place is None


def test_nothing_is_approved_before_its_end_was_on_the_screen() -> None:
    shown = review(FIRST)
    assert shown.hindrance(approves=True) == UNREAD

    shown.painted()
    assert shown.hindrance(approves=True) == UNREAD
    shown.press("End")
    assert shown.hindrance(approves=True) == UNREAD
    shown.painted()
    assert shown.hindrance(approves=True) == ""
    shown.press("PageUp")
    assert shown.hindrance(approves=True) == ""


def test_it_can_be_denied_unread() -> None:
    assert review(FIRST).hindrance(approves=False) == ""


def test_what_we_may_not_approve_we_may_perhaps_deny() -> None:
    own = SECOND._replace(hindrance="your own")
    barred = own._replace(may_deny=False)

    assert review(own).hindrance(approves=True) == "your own"
    assert review(own).hindrance(approves=False) == ""
    assert review(barred).hindrance(approves=False) == "your own"


def test_what_is_shown_stays_when_others_come_and_is_gone_when_it_waits_no_longer() -> (
    None
):
    shown = review(FIRST)
    shown.look(row(SECOND, FIRST))
    assert shown.shown == FIRST
    assert shown.place == 1

    shown.look(row(SECOND))
    assert shown.is_gone
    assert shown.hindrance(approves=True) == GONE
    assert shown.hindrance(approves=False) == GONE
    shown.turn(1)
    assert shown.shown == SECOND
    assert not shown.is_gone

    shown.look(None)
    assert shown.is_gone


def test_the_same_ticket_with_other_bytes_is_something_else() -> None:
    shown = review(SECOND)
    shown.painted()
    shown.look(row(SECOND._replace(digest=b"other")))

    assert shown.is_gone


def test_what_else_is_found_out_has_to_be_read_too() -> None:
    shown = review(SECOND)
    shown.painted()
    assert shown.is_read

    shown.look(row(SECOND._replace(lines=("short", "runs rm"))))
    shown.fit(80, 1)
    assert shown.lines(80) == ["short", "runs rm"]
    assert shown.hindrance(approves=True) == UNREAD


def test_the_text_moves_within_its_bounds() -> None:
    shown = review(FIRST)
    for name, top in (
        ("Up", 0),
        ("Down", 1),
        ("j", 2),
        ("k", 1),
        (" ", 4),
        ("End", 6),
        ("PageUp", 3),
        ("other", 3),
    ):
        shown.press(name)
        assert shown.top == top, name


def test_one_turns_to_the_next_that_waits_and_around() -> None:
    shown = review(FIRST, SECOND)
    shown.turn(1)
    assert shown.shown == SECOND
    shown.turn(1)
    assert shown.shown == FIRST
    shown.turn(-1)
    assert shown.shown == SECOND
