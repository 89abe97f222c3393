"""The order of a move: what is done next, whatever came of the step before."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast.core.capsule.move_order import (
    Done,
    Ending,
    Event,
    MoveOrder,
    Refused,
    Stage,
    Step,
    Unanswered,
)

GOOD = [
    (Step.CHECK, None),
    (Step.NOTE, Stage.ASKED),
    (Step.ENTRUST, None),
    (Step.STOP, Stage.STOPPED),
    (Step.SEND, None),
    (Step.RELEASE, Stage.OFFERED),
    (Step.COMMIT, Stage.GONE),
    (Step.FORGET, None),
]


def at(step: Step) -> MoveOrder:
    order = MoveOrder()
    while order.step is not step:
        order.take(Done())
    return order


def test_a_move_that_nothing_disturbs_goes_step_by_step() -> None:
    order, seen = MoveOrder(), []
    while order.ending is None:
        step = order.step
        seen.append((step, order.take(Done())))

    assert seen == GOOD
    assert order.ending is Ending.MOVED


@pytest.mark.parametrize("step", [Step.CHECK, Step.NOTE, Step.ENTRUST, Step.STOP])
def test_what_is_refused_before_the_stop_leaves_the_session_as_it_was(
    step: Step,
) -> None:
    order = at(step)

    order.take(Refused())

    assert order.step is Step.DROP
    assert order.take(Done()) is None
    assert order.ending is Ending.STAYED


@pytest.mark.parametrize("step", [Step.SEND, Step.RELEASE, Step.COMMIT])
def test_what_is_refused_after_the_stop_is_claimed_back(step: Step) -> None:
    order = at(step)

    order.take(Refused())

    assert order.step is Step.RECLAIM
    order.take(Done())
    assert order.step.value == "drop"


@pytest.mark.parametrize("step", [Step.ENTRUST, Step.STOP, Step.SEND, Step.COMMIT])
def test_what_nobody_answers_is_tried_again_until_the_time_is_up(step: Step) -> None:
    order = at(step)

    assert order.take(Unanswered()) is None
    assert order.step is step
    order.take(Unanswered(), is_late=True)

    turned = {True: "reclaim", False: "drop"}[order.is_stopped]
    assert order.step.value == turned


def test_a_check_that_nobody_answers_is_not_repeated() -> None:
    order = MoveOrder()

    order.take(Unanswered())

    assert order.step is Step.DROP


def test_what_cannot_be_claimed_back_rests_where_it_is() -> None:
    order = at(Step.COMMIT)
    order.take(Unanswered(), is_late=True)

    order.take(Unanswered())

    assert order.step is Step.REST
    order.take(Done())
    assert order.ending is Ending.RESTS
    assert order.stage is Stage.OFFERED


def test_what_cannot_be_tidied_up_has_moved_all_the_same() -> None:
    order = at(Step.FORGET)

    order.take(Refused())

    assert order.ending is Ending.MOVED


@pytest.mark.parametrize(
    ("stage", "steps"),
    [
        (Stage.ASKED, [Step.ENTRUST, Step.STOP, Step.SEND]),
        (Stage.STOPPED, [Step.ENTRUST, Step.SEND, Step.RELEASE]),
        (Stage.OFFERED, [Step.RELEASE, Step.COMMIT, Step.FORGET]),
        (Stage.GONE, [Step.FORGET]),
    ],
)
def test_who_asks_again_goes_on_where_the_note_says(
    stage: Stage, steps: list[Step]
) -> None:
    order = MoveOrder(stage)
    seen: list[Step] = []
    while len(seen) < len(steps):
        seen.append(order.step)
        order.take(Done())

    assert seen == steps


# ── an adversary: two hosts, a relay, and whoever kills the one that moves ─────────


@dataclass
class World:
    """Where the session is, by what really happened."""

    tree_here: bool = True
    tree_there: bool = False
    image_here: bool = False
    image_there: bool = False
    holder: str = "here"
    """Whom the relay has given the newest incarnation."""

    is_released: bool = False
    heirs: set[str] = field(default_factory=set)
    note: Stage | None = None

    def claim(self, who: str) -> bool:
        """Ask the relay, which gives each incarnation to one."""
        if who != self.holder and who not in self.heirs:
            return False
        if not self.is_released:
            return False
        self.holder, self.is_released = who, False
        return True

    def do(self, step: Step) -> bool:  # noqa: C901  # one case for each step
        """Do a step; False if it is refused."""
        match step:
            case Step.ENTRUST:
                self.heirs = {"there"}
                return self.holder == "here"
            case Step.STOP:
                self.image_here, self.tree_here = True, False
            case Step.SEND:
                assert self.image_here, "what was not stopped is sent"
                self.image_there = True
            case Step.RELEASE:
                assert not self.tree_here, "I1: released while it lives"
                if self.holder == "here":
                    self.is_released = True
            case Step.COMMIT:
                if self.tree_there:
                    return True
                assert self.image_there, "I1: committed before it was sent"
                if self.holder != "there" and not self.claim("there"):
                    return False
                self.tree_there = True
            case Step.RECLAIM:
                self.is_released |= self.holder == "here"
                if not self.claim("here"):
                    return False
                self.tree_here, self.image_here = True, False
            case Step.FORGET:
                assert self.tree_there, "I2: forgotten before it goes on there"
                self.image_here = False
            case _:
                pass
        return True


class Moving(RuleBasedStateMachine):
    """Somebody moves a session, and is killed, cut off or refused in every step."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.order: MoveOrder | None = None

    @precondition(lambda self: self.order is None and not self.world.tree_there)
    @rule()
    def asks(self) -> None:
        stage = None if self.world.tree_here else self.world.note
        self.order = MoveOrder(stage)

    @precondition(lambda self: self.order is not None)
    @rule(fate=st.sampled_from(["done", "cut", "lost", "refused"]), late=st.booleans())
    def steps(self, fate: str, late: bool) -> None:  # noqa: FBT001  # drawn
        assert self.order is not None
        event: Event = Unanswered()
        if fate in ("done", "lost"):
            is_done = self.world.do(self.order.step)
            if fate == "done":
                event = Done() if is_done else Refused()
        elif fate == "refused" and self.order.step is not Step.FORGET:
            event = Refused()
        noted = self.order.take(event, is_late=late)
        if noted is not None:
            self.world.note = noted
        if self.order.ending is not None:
            self.world.note = None if self.world.tree_here else self.world.note
            self.order = None

    @precondition(lambda self: self.order is not None)
    @rule()
    def killed(self) -> None:
        self.order = None

    @invariant()
    def one_tree_at_most(self) -> None:
        assert not (self.world.tree_here and self.world.tree_there), "two live"

    @invariant()
    def never_lost(self) -> None:
        world = self.world
        assert world.tree_here or world.tree_there or world.image_here, "it is gone"

    @invariant()
    def a_stopped_session_has_a_note(self) -> None:
        world = self.world
        if not world.tree_here and not world.tree_there:
            assert world.note is not None, "I4"


TestMoving = Moving.TestCase
TestMoving.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)
