"""What holds at the end of a book; test_checkpoint.py compares it with all of it."""

from tests.core.book.test_checkpoint import Story, summed

from holdfast.core.book.book_state import MAX_LAST, Standing
from holdfast.model.ids import Index
from holdfast.model.outcomes import Applied, Cut, Dropped


def standing(*happened: tuple[object, ...]) -> Standing:
    return summed(Story().tell(*happened).entries).standing


def test_the_last_input_of_each_client_is_known_with_what_became_of_it() -> None:
    found = standing(
        ("input", "a_anna", "c_one", "keys"),
        ("settle", "dropped"),
        ("input", "a_anna", "c_one", "keys"),
        ("settle", "cut"),
        ("input", "a_bot", "c_one", "keys"),
        ("settle", "applied"),
        ("input", "a_bot", "c_two", "keys"),
        ("settle", "dropped"),
    ).past()

    assert {index: past.outcome for index, past in found.items()} == {
        2: Cut(Index(2), 1),
        4: Applied(Index(4)),
        6: Dropped(Index(6)),
    }


def test_one_that_is_not_the_last_is_settled_without_a_trace() -> None:
    story = Story().tell(
        ("input", "a_anna", "c_one", "keys"), ("input", "a_anna", "c_one", "keys")
    )
    story.open = 0
    found = summed(story.tell(("settle", "dropped")).entries).standing

    assert found.open == 1
    assert not found.endings


def test_clients_beyond_the_bound_are_marked() -> None:
    many = [("input", "a_anna", f"c_{n}", "keys") for n in range(MAX_LAST + 1)]
    found = standing(*many)

    assert len(found.past()) == MAX_LAST
    assert found.forgotten.following("a_anna", "c_0") == 2  # type: ignore[arg-type]
