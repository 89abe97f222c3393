import pytest
from tests.core.capsule.checkpoint_world import BEGINNING, Story

from holdfast.core.capsule.checkpoint_order import (
    BEARERS,
    ORDER,
    Bearer,
    CheckpointOrder,
    Done,
    Effect,
    Failed,
    Finish,
    Found,
    Image,
    Operation,
    Outcome,
    Perform,
    Settled,
    Step,
    Tree,
    mending,
)


def done(order: CheckpointOrder, *steps: Step) -> list[Effect]:
    effects: list[Effect] = []
    for step in steps:
        effects = order.handle(Done(step))
    return effects


@pytest.mark.parametrize("operation", Operation)
def test_whoever_dies_the_session_is_there_once(operation: Operation) -> None:
    story = Story(operation)

    assert story.explore() > 100
    told = {outcome for outcome, _ in story.ends}
    assert told == set(Outcome), "each end is reached"


@pytest.mark.parametrize("operation", Operation)
def test_what_is_said_to_be_done_is_done(operation: Operation) -> None:
    story = Story(operation)
    story.explore()

    for outcome, world in story.ends:
        is_made = world.image is Image.WHOLE and world.bearer is BEARERS[operation]
        if outcome is Outcome.DONE:
            assert is_made
            assert not world.has_note
        if outcome is Outcome.UNDONE and not world.has_note:
            assert not is_made


@pytest.mark.parametrize("operation", Operation)
def test_without_trouble_each_step_follows_the_one_before(operation: Operation) -> None:
    order = CheckpointOrder(operation)
    asked = order.begin()
    for step in ORDER[operation]:
        assert asked == [Perform(step)]
        asked = order.handle(Done(step))

    assert asked == [Finish(Outcome.DONE, "")]


def test_a_note_that_cannot_be_written_begins_nothing() -> None:
    order = CheckpointOrder(Operation.KEEP)
    order.begin()

    assert order.handle(Failed(Step.NOTE, "disk full")) == [
        Finish(Outcome.UNDONE, "disk full")
    ]


def test_a_failed_dump_lets_the_session_go_on() -> None:
    order = CheckpointOrder(Operation.SWAP)
    order.begin()
    done(order, Step.NOTE)

    assert order.handle(Failed(Step.DUMP, "/dev/tty is held")) == [Perform(Step.SETTLE)]
    found = Found(Bearer.OLD, Tree.STILL, Tree.GONE, Image.DRAFT)
    assert order.handle(Settled(found)) == [Perform(Step.THAW)]
    assert done(order, Step.THAW) == [Perform(Step.SWEEP)]
    assert done(order, Step.SWEEP, Step.CLEAR) == [
        Finish(Outcome.UNDONE, "/dev/tty is held")
    ]


def test_a_commit_that_may_have_happened_is_settled_first() -> None:
    order = CheckpointOrder(Operation.STOP)
    order.begin()
    done(order, Step.NOTE, Step.DUMP, Step.SEAL)

    assert order.handle(Failed(Step.COMMIT, "no answer")) == [Perform(Step.SETTLE)]
    found = Found(Bearer.IMAGE, Tree.STILL, Tree.GONE, Image.WHOLE)
    assert order.handle(Settled(found)) == [Perform(Step.END)]
    assert done(order, Step.END, Step.CLEAR) == [Finish(Outcome.DONE, "no answer")]


def test_what_cannot_be_settled_is_left_to_a_successor() -> None:
    order = CheckpointOrder(Operation.KEEP)

    assert order.mend() == [Perform(Step.SETTLE)]
    assert order.handle(Failed(Step.SETTLE, "no keeper")) == [
        Finish(Outcome.UNMENDED, "no keeper")
    ]


def test_what_cannot_be_mended_is_left_to_a_successor() -> None:
    order = CheckpointOrder(Operation.KEEP)
    order.mend()
    order.handle(Settled(Found(Bearer.OLD, Tree.STILL, Tree.GONE, Image.NONE)))

    assert order.handle(Failed(Step.THAW, "no right")) == [
        Finish(Outcome.UNMENDED, "no right")
    ]


@pytest.mark.parametrize(
    ("found", "steps"),
    [
        (Found(Bearer.OLD, Tree.RUNNING, Tree.GONE, Image.NONE), ()),
        (Found(Bearer.OLD, Tree.GONE, Tree.GONE, Image.WHOLE), ()),
        (
            Found(Bearer.OLD, Tree.STILL, Tree.STILL, Image.DRAFT),
            (Step.DROP, Step.THAW, Step.SWEEP),
        ),
        (
            Found(Bearer.NEW, Tree.STILL, Tree.STILL, Image.DRAFT),
            (Step.END, Step.FREE, Step.SWEEP),
        ),
        (Found(Bearer.NEW, Tree.GONE, Tree.RUNNING, Image.WHOLE), ()),
        (
            Found(Bearer.IMAGE, Tree.STILL, Tree.STILL, Image.WHOLE),
            (Step.DROP, Step.END),
        ),
        (Found(Bearer.NOBODY, Tree.GONE, Tree.STILL, Image.WHOLE), (Step.DROP,)),
    ],
)
def test_what_may_not_run_ends_before_what_may_goes_on(
    found: Found, steps: tuple[Step, ...]
) -> None:
    assert mending(found) == (*steps, Step.CLEAR)


def test_every_operation_has_a_beginning_and_an_end() -> None:
    assert set(ORDER) == set(BEARERS) == set(BEGINNING) == set(Operation)
    for steps in ORDER.values():
        assert (steps[0], steps[-1]) == (Step.NOTE, Step.CLEAR)
        assert len(set(steps)) == len(steps)
