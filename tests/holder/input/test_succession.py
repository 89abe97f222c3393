"""What a successor knows of a session that its predecessor has left."""

from tests.holder.input_world import World, successor


def test_a_successor_knows_what_stands_typed_and_by_whom(here: World) -> None:
    anna = here.join()
    anna.submit(b"rm -rf ")
    here.session.settle()

    heir = successor(here)

    standing = heir.context.shell.line.stands()
    assert (standing.data, standing.by) == (b"rm -rf ", (anna.id,))


def test_a_successor_of_an_empty_line_knows_that_it_is(here: World) -> None:
    anna = here.join()
    anna.submit(b"ls\r")
    here.session.settle()

    heir = successor(here)

    assert heir.context.shell.line.stands().is_empty


def test_a_successor_goes_on_with_the_same_book(here: World) -> None:
    anna = here.join()
    anna.submit(b"ls\r")
    here.session.settle()
    before = here.entries()

    heir = successor(here)
    heir.session.settle()

    assert heir.entries()[: len(before)] == before
    assert heir.holder == here.holder == anna.id
    assert heir.intake.turn.epoch == here.intake.turn.epoch
