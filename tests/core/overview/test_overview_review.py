"""What waits for approval, and how it is decided in the overview."""

from tests.core.overview.overview_world import ASKS, WAITS, World, row

from holdfast.core.overview.acts import Approve, Deny, LookNow, Resized, Scrolled
from holdfast.core.overview.dialogs import GONE, UNREAD
from holdfast.core.overview.overview import LIST, REVIEW
from holdfast.core.overview.sessions import Look

A = ("", "s_a")


def asking() -> World:
    """Return an overview with a session in which something waits for approval."""
    world = World("a", "b")
    world.look("a", ASKS)
    return world


def test_what_waits_is_approved_once_it_was_on_the_screen() -> None:
    world = asking()
    assert world.press("a") == []
    assert world.overview.page == REVIEW
    world.overview.painted()

    assert world.press("y") == [Approve(A, WAITS.ticket, WAITS.digest)]
    assert world.overview.page == LIST


def test_keys_typed_ahead_approve_nothing() -> None:
    world = asking()

    assert world.press("a", "y", "y") == []
    assert world.said == UNREAD


def test_a_key_that_repeats_decides_once() -> None:
    world = asking()
    world.press("a")
    world.overview.painted()

    assert len(world.press("y", "y", "y")) == 1


def test_what_waits_is_denied() -> None:
    world = asking()

    assert world.press("a", "n") == [Deny(A, WAITS.ticket, WAITS.digest)]


def test_what_waits_no_longer_is_not_decided() -> None:
    world = asking()
    world.press("a")
    world.overview.painted()
    world.look("a", Look())

    assert world.press("y", "n") == []
    assert world.said == GONE


def test_a_review_is_of_what_was_shown_and_not_of_what_came_instead() -> None:
    world = asking()
    world.press("a")
    world.overview.painted()
    other = WAITS._replace(digest=b"other")
    world.look("a", Look(pending=(other,), pending_count=1))

    assert world.press("y") == []


def test_a_review_is_left_and_moved_in() -> None:
    world = World("a", lines=4)
    second = WAITS._replace(ticket=8)
    world.look("a", Look(pending=(WAITS, second), pending_count=2))
    world.press("a", "Tab")
    assert world.overview.review is not None
    assert world.overview.review.shown == second
    world.press("Left")
    assert world.overview.review.shown == WAITS
    world.tell(Resized(8, 3))
    world.press("Down")
    assert world.overview.review.top == 1
    world.tell(Scrolled(1))
    assert world.overview.review.top == 4

    world.press("Escape")
    assert world.overview.page == LIST
    assert world.overview.review is None
    world.overview.painted()


def test_what_was_not_seen_yet_is_looked_at_first() -> None:
    world = World("a")
    world.look("a", Look(pending_count=1))

    assert world.press("a") == [LookNow(A)]
    world.look("a", ASKS)
    assert world.overview.review is not None
    assert world.overview.review.shown == WAITS


def test_a_start_that_waits_can_be_reviewed() -> None:
    world = World()
    world.lists(row("a", state="starting"))

    assert world.press("a") == [LookNow(A)]


def test_where_nothing_waits_there_is_nothing_to_review() -> None:
    world = World("a")

    assert world.press("a") == []
    assert world.said == "nothing waits for approval"


def test_what_waits_is_found_from_any_session() -> None:
    world = asking()
    world.press("Down")
    assert world.overview.selected != A

    assert world.press("a") == []
    assert world.overview.review is not None
    assert world.overview.review.key == A
    assert world.overview.selected == A
    world.press("Escape")
    world.look("a", Look())
    assert world.press("a") == []
    assert world.said == "nothing waits for approval"
