"""Every way in which an operation on a session can go, and go wrong.

A small world: two trees, an image, a note, who bears the name, a commit that may be on
its way. A porter does what its CheckpointOrder says. Each step may succeed, fail having
done nothing, fail having done it all or half, and the porter may be killed before and
after it; then another porter mends, and may be killed as well.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdfast.core.capsule.checkpoint_order import (
    BEARERS,
    Bearer,
    CheckpointOrder,
    Done,
    Effect,
    Event,
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
)

DEATHS = 3
"""Porters that die, one after the other, before one is left alone."""

FAILURES = 2
"""Steps that fail for another reason, in one story."""


class Broken(AssertionError):
    """An invariant does not hold."""


@dataclass(frozen=True)
class World:
    """All there is."""

    operation: Operation
    bearer: Bearer
    old: Tree
    image: Image
    new: Tree = Tree.GONE
    has_note: bool = False
    has_mark: bool = False
    is_settled: bool = False
    is_on_its_way: bool = False
    """Whether a commit was sent that the keeper has not seen yet."""
    deaths: int = 0
    failures: int = 0

    def found(self) -> Found:
        return Found(self.bearer, self.old, self.new, self.image)

    def committed(self) -> "World":
        if self.is_settled:
            return replace(self, is_on_its_way=False)
        bearer = BEARERS[self.operation]
        return replace(self, bearer=bearer, is_on_its_way=False)

    def without_porter(self) -> "World":
        """Return what is left when the porter is gone: its lifeline is cut."""
        carried = self.bearer is Bearer.NEW or self.is_on_its_way
        new = self.new if carried else Tree.GONE
        return replace(self, new=new, deaths=self.deaths + 1)

    def check(self) -> None:
        running = [self.old, self.new].count(Tree.RUNNING)
        demand(running <= 1, "I1: two trees run", self)
        is_there = {
            Bearer.OLD: self.old is not Tree.GONE,
            Bearer.NEW: self.new is not Tree.GONE,
            Bearer.IMAGE: self.image is Image.WHOLE,
            Bearer.NOBODY: True,
        }
        demand(is_there[self.bearer], "I2: the session is gone", self)
        may_run = {Bearer.OLD: self.old, Bearer.NEW: self.new}.get(self.bearer)
        demand(
            running == 0 or may_run is Tree.RUNNING,
            "I1: what is not the bearer runs",
            self,
        )
        if self.operation is Operation.RESTORE and self.bearer is Bearer.NEW:
            demand(self.has_mark, "I5: it is restored, and nothing says so", self)

    def check_at_rest(self) -> None:
        trees = {Bearer.OLD: self.old, Bearer.NEW: self.new}
        for bearer, tree in trees.items():
            wanted = Tree.RUNNING if bearer is self.bearer else Tree.GONE
            demand(tree is wanted, f"I3: {bearer} is {tree}", self)
        demand(self.image is not Image.DRAFT, "I3: a draft is left", self)


def demand(holds: bool, what: str, world: World) -> None:  # noqa: FBT001  # it is the question
    if not holds:
        raise Broken(f"{what}: {world}")


BEGINNING = {
    Operation.KEEP: (Bearer.OLD, Tree.RUNNING, Image.NONE),
    Operation.SWAP: (Bearer.OLD, Tree.RUNNING, Image.NONE),
    Operation.STOP: (Bearer.OLD, Tree.RUNNING, Image.NONE),
    Operation.RESTORE: (Bearer.IMAGE, Tree.GONE, Image.WHOLE),
    Operation.BRANCH: (Bearer.NOBODY, Tree.GONE, Image.WHOLE),
}


def outcomes(step: Step, world: World) -> Iterator[tuple[World, bool]]:
    """Yield what a step may leave, and whether it says that it was done."""
    after = {
        Step.NOTE: replace(world, has_note=True),
        Step.DUMP: replace(world, old=Tree.STILL, image=Image.DRAFT),
        Step.THAW: replace(world, old=Tree.RUNNING),
        Step.VERIFY: world,
        Step.MARK: replace(world, has_mark=True),
        Step.BUILD: world,
        Step.RESTORE: replace(world, new=Tree.STILL),
        Step.CHECK: world,
        Step.SEAL: replace(world, image=Image.WHOLE),
        Step.COMMIT: world.committed(),
        Step.FREE: replace(world, new=Tree.RUNNING),
        Step.END: replace(world, old=Tree.GONE),
        Step.CLEAR: replace(world, has_note=False),
        Step.SETTLE: replace(world, is_settled=True),
        Step.DROP: replace(world, new=Tree.GONE),
        Step.SWEEP: replace(world, image=Image.NONE),
    }[step]
    if step is Step.SWEEP:
        demand(world.image is not Image.WHOLE, "I4: a whole image is swept", world)
    is_refused = step is Step.COMMIT and world.is_settled
    yield after, not is_refused
    if world.failures == FAILURES:
        return
    for left in {world, after, *_halfway(step, world)}:
        yield replace(left, failures=world.failures + 1), False


def _halfway(step: Step, world: World) -> Iterator[World]:
    if step is Step.DUMP:
        yield replace(world, image=Image.DRAFT)  # criu died, and the tree goes on
        yield replace(world, old=Tree.STILL)
    if step is Step.COMMIT:
        yield replace(world, is_on_its_way=True)


class Story:
    """All that can follow from the beginning of one operation."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self._seen: set[object] = set()
        self.ends: set[tuple[Outcome, World]] = set()
        """How a porter that nobody killed said that it ended, and what there was."""

    def explore(self) -> int:
        """Look at everything, and return how many situations there were."""
        bearer, old, image = BEGINNING[self.operation]
        order = CheckpointOrder(self.operation)
        waiting = [(World(self.operation, bearer, old, image), order, order.begin()[0])]
        while waiting:
            world, order, effect = waiting.pop()
            key = (world, effect, tuple(vars(order).values()))
            if key in self._seen:
                continue
            self._seen.add(key)
            world.check()
            waiting.extend(self._next(world, order, effect))
        return len(self._seen)

    def _next(
        self, world: World, order: CheckpointOrder, effect: Effect
    ) -> Iterator[tuple[World, CheckpointOrder, Effect]]:
        if world.is_on_its_way:  # at any time
            yield world.committed(), order, effect
        if isinstance(effect, Finish):
            self.ends.add((effect.outcome, world))
            yield from self._left(replace(world.without_porter(), deaths=world.deaths))
            return
        if world.deaths < DEATHS:
            yield from self._left(world.without_porter())
        yield from _performed(world, order, effect)

    def _left(self, world: World) -> Iterator[tuple[World, CheckpointOrder, Effect]]:
        """Begin what follows when no porter is at work."""
        world.check()
        order = CheckpointOrder(self.operation)
        if world.has_note:
            yield world, order, order.mend()[0]
        elif not world.is_on_its_way:
            world.check_at_rest()


def _performed(
    world: World, order: CheckpointOrder, effect: Perform
) -> Iterator[tuple[World, CheckpointOrder, Effect]]:
    for after, is_done in outcomes(effect.step, world):
        event: Event = Failed(effect.step, "why")
        if is_done:
            is_answer = effect.step is Step.SETTLE
            event = Settled(after.found()) if is_answer else Done(effect.step)
        onward = copy.copy(order)
        (next_effect,) = onward.handle(event)
        yield after, onward, next_effect
