"""Checks that a session in a capsule exists once, whichever process dies.

A crowd of sessions on one host, each put to disk, brought back and branched all the
time, by porters that are killed within and between their steps. CRIU, disks and
commits fail at random; a commit may be late, and its answer lost. The host's keeper,
or what its trustee kept of it, finds the notes of dead porters and has them mended.

The crowd knows what is really there: which trees run, who holds their lifelines,
which images are whole. It has chance of its own, so that what else happens in a
world does not depend on it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

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
    Perform,
    Settled,
    Step,
    Tree,
)
from holdfast.core.capsule.manifest import is_spent
from holdfast.core.capsule.retention import Bounds, Kept, removable
from holdfast.model.ids import Incarnation, SessionId
from holdfast.testing.world import Machine, demand

LOOK = 0.3
"""Seconds between two looks of a keeper for notes whose porter is dead."""

CARRIED = 1.0
"""Seconds between two operations on one session, on average."""

PATIENCE = 1.0
"""Seconds that a porter waits for the answer to a commit."""

BRANCHES = 3
"""Branches in one crowd, at most."""

BOUNDS = Bounds(count=3, size=100)

_FAILS, _DIES, _LATE, _UNANSWERED, _BRANCHED = 0.04, 0.05, 0.15, 0.1, 0.2
_CHECKPOINTS = (Operation.KEEP, Operation.SWAP, Operation.STOP)


@dataclass(slots=True, eq=False)
class _Grove:
    """One tree of processes."""

    incarnation: Incarnation
    state: Tree = Tree.STILL
    is_carried: bool = False
    """Whether a commit that is on its way holds its lifeline."""


@dataclass(slots=True, eq=False)
class _Stored:
    number: int
    once: bool
    state: Image = Image.DRAFT
    tried: Incarnation | None = None
    lives: int = 0
    """Incarnations of its own session that lived from it."""


@dataclass(slots=True, eq=False)
class _Note:
    operation: Operation
    image: _Stored
    old: _Grove | None
    incarnation: Incarnation
    new: _Grove | None = None
    is_settled: bool = False


@dataclass(slots=True, eq=False)
class _Carried:
    """A session, as durable as its keeper and its disk make it."""

    session: SessionId
    bearer: _Grove | _Stored | None
    lived: Incarnation
    images: list[_Stored] = field(default_factory=list)
    groves: list[_Grove] = field(default_factory=list)
    note: _Note | None = None
    porter: "_Porter | None" = None
    made: int = 0


class _Porter:
    """One process that carries out one operation, or mends it."""

    def __init__(
        self, crowd: "CapsuleCrowd", one: _Carried, note: _Note, *, is_heir: bool
    ) -> None:
        self._crowd = crowd
        self._one = one
        self._note = note
        self._order = CheckpointOrder(note.operation)
        self._waits_for: Step | None = None
        self.is_alive = True
        one.porter = self
        self._take(self._order.mend() if is_heir else self._order.begin())

    def die(self) -> None:
        """Be killed; the kernel closes what only this process had open."""
        self.is_alive = False
        self._one.porter = None
        self._crowd.cut_lifeline(self._one, self._note)

    def answered(self, step: Step) -> None:
        """Hear that a commit was taken."""
        if self.is_alive and self._waits_for is step:
            self._tell(Done(step))

    def _tell(self, event: Event) -> None:
        self._waits_for = None
        self._take(self._order.handle(event))

    def _take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Finish):
                self._crowd.reach(f"carried: {effect.outcome}")
                self.die()
            else:
                self._crowd.after(0.05, self._perform, effect)

    def _perform(self, effect: Perform) -> None:
        crowd, step = self._crowd, effect.step
        if not self.is_alive:
            return
        if crowd.strikes(_DIES):
            crowd.reach("porter killed before a step")
            self.die()
            return
        is_failing = step is not Step.COMMIT and crowd.strikes(_FAILS)
        # What fails has sometimes been done all the same.
        if not is_failing or crowd.strikes(0.5):
            self._do(step)
        crowd.check(self._one)
        if crowd.strikes(_DIES):
            crowd.reach("porter killed after a step")
            self.die()
        elif step is Step.COMMIT:
            self._waits_for = step
            crowd.wait(PATIENCE, self._give_up, step)
        else:
            self._tell(self._result(step, is_failing=is_failing))

    def _result(self, step: Step, *, is_failing: bool) -> Event:
        if is_failing:
            return Failed(step, "by chance")
        if step is Step.SETTLE:
            return Settled(self._crowd.found(self._one, self._note))
        return Done(step)

    def _give_up(self, step: Step) -> None:
        if self.is_alive and self._waits_for is step:
            self._crowd.reach("commit not answered")
            self._tell(Failed(step, "no answer"))

    def _do(self, step: Step) -> None:
        one, note = self._one, self._note
        actions: dict[Step, Callable[[], None]] = {
            Step.NOTE: lambda: setattr(one, "note", note),
            Step.DUMP: self._dump,
            Step.THAW: lambda: _set(note.old, Tree.RUNNING),
            Step.MARK: lambda: setattr(note.image, "tried", note.incarnation),
            Step.RESTORE: self._restore,
            Step.SEAL: lambda: setattr(note.image, "state", Image.WHOLE),
            Step.COMMIT: lambda: self._crowd.send_commit(one, note, self),
            Step.FREE: lambda: _set(note.new, Tree.RUNNING),
            Step.END: lambda: _set(note.old, Tree.GONE),
            Step.CLEAR: lambda: setattr(one, "note", None),
            Step.SETTLE: lambda: setattr(note, "is_settled", True),
            Step.DROP: lambda: _set(note.new, Tree.GONE),
            Step.SWEEP: self._sweep,
        }
        if step in actions:  # The others only look.
            actions[step]()

    def _dump(self) -> None:
        _set(self._note.old, Tree.STILL)
        self._one.images.append(self._note.image)

    def _restore(self) -> None:
        self._note.new = _Grove(self._note.incarnation)
        self._one.groves.append(self._note.new)

    def _sweep(self) -> None:
        image = self._note.image
        demand(image.state is not Image.WHOLE, "M14", "a whole image is swept")
        if image in self._one.images:
            self._one.images.remove(image)


class CapsuleCrowd:
    """Sessions of one host in capsules, and everything that is done to them."""

    def __init__(self, machine: Machine, size: int) -> None:
        self._machine = machine
        self._world = machine.world
        self._rng = random.Random(f"{self._world.seed} {machine.name}")
        self._boot = machine.boot
        self._is_quiet = False
        self._branches = 0
        self._all = [
            self._born(SessionId(f"capsule{n}"), Incarnation(1)) for n in range(size)
        ]
        self._live()

    def rest(self) -> None:
        """Begin nothing new, and let nothing fail any more."""
        self._is_quiet = True

    def close(self) -> None:
        """Check that nothing is left half-done (M14)."""
        for one in self._all:
            self.check(one)
            name = one.session
            demand(one.note is None, "M14", f"{name} is never mended")
            for image in one.images:
                demand(image.state is Image.WHOLE, "M14", f"{name} has a draft")
            for grove in one.groves:
                is_bearer = grove is one.bearer
                is_right = grove.state is (Tree.RUNNING if is_bearer else Tree.GONE)
                demand(is_right, "M14", f"{name}: a tree is {grove.state}")

    # ── for porters ───────────────────────────────────────────────────────

    def strikes(self, chance: float) -> bool:
        """Tell whether something goes wrong now."""
        return not self._is_quiet and self._rng.random() < chance

    def reach(self, situation: str) -> None:
        """Count a situation."""
        self._world.reached[situation] += 1

    def after(self, most: float, action: Callable[..., None], *args: object) -> None:
        """Do something on this machine, after at most so long."""
        self._machine.after(self._rng.uniform(0, most), action, *args)

    def wait(self, seconds: float, action: Callable[..., None], *args: object) -> None:
        """Do something on this machine after so long."""
        self._machine.after(seconds, action, *args)

    def found(self, one: _Carried, note: _Note) -> Found:
        """Return what is there, as one who looks finds it."""
        bearer = Bearer.NOBODY
        if isinstance(one.bearer, _Stored):
            bearer = Bearer.IMAGE
        elif one.bearer is not None:
            bearer = Bearer.NEW if one.bearer is note.new else Bearer.OLD
        image = note.image.state if note.image in one.images else Image.NONE
        return Found(bearer, _state(note.old), _state(note.new), image)

    def send_commit(self, one: _Carried, note: _Note, porter: _Porter) -> None:
        """Carry a commit to the keeper; it holds the new tree's lifeline meanwhile."""
        if note.new is not None:
            note.new.is_carried = True
        is_late = self.strikes(_LATE)
        delay = self._rng.uniform(PATIENCE, 4) if is_late else 0.01
        self._machine.after(delay, self._committed, one, note, porter)

    def cut_lifeline(self, one: _Carried, note: _Note) -> None:
        """End a new tree that nobody holds any more."""
        new = note.new
        if new is not None and new is not one.bearer and not new.is_carried:
            new.state = Tree.GONE

    def check(self, one: _Carried) -> None:
        """Check what must hold of a session at every moment."""
        running = [grove for grove in one.groves if grove.state is Tree.RUNNING]
        demand(len(running) <= 1, "M10", f"two trees of {one.session} run")
        for grove in running:
            demand(
                grove is one.bearer, "M10", f"{one.session} runs, and is not the bearer"
            )
        if isinstance(one.bearer, _Grove):
            demand(one.bearer.state is not Tree.GONE, "M11", f"{one.session} is gone")
        elif one.bearer is not None:
            is_there = one.bearer in one.images and one.bearer.state is Image.WHOLE
            demand(is_there, "M11", f"the image that {one.session} is, is gone")
        for image in one.images:
            demand(not image.once or image.lives <= 1, "M13", "restored twice")

    # ── the keeper ────────────────────────────────────────────────────────

    def _committed(self, one: _Carried, note: _Note, porter: _Porter) -> None:
        if note.new is not None:
            note.new.is_carried = False
        if one.note is not note or note.is_settled:
            self.reach("commit after it was settled")
            if not porter.is_alive:
                self.cut_lifeline(one, note)
            return
        self._give_name(one, note)
        self.check(one)
        if not self.strikes(_UNANSWERED):
            porter.answered(Step.COMMIT)

    def _give_name(self, one: _Carried, note: _Note) -> None:
        if BEARERS[note.operation] is Bearer.IMAGE:
            one.bearer = note.image
            return
        one.bearer = note.new
        if note.operation is Operation.RESTORE:
            is_next = note.incarnation > one.lived
            demand(is_next, "M12", f"{one.session} lives as {note.incarnation} again")
            note.image.lives += 1
        one.lived = note.incarnation

    def _live(self) -> None:
        self._world.after(self._rng.uniform(0, LOOK), self._live)
        if not self._machine.is_up or self._machine.is_frozen():
            return
        if self._machine.boot != self._boot:
            self._boot = self._machine.boot
            self._lose_everything()
        for one in list(self._all):
            self._look_after(one)

    def _look_after(self, one: _Carried) -> None:
        if one.porter is not None:
            return
        if one.note is not None:
            self.reach("operation mended")
            _Porter(self, one, one.note, is_heir=True)
        elif not self._is_quiet and self._rng.random() < LOOK / CARRIED:
            self._carry(one)

    def _lose_everything(self) -> None:
        """Boot: what is on disk is there, and what ran is not."""
        for one in self._all:
            one.groves.clear()
            one.porter = None
            if one.note is not None:
                one.note.old = one.note.new = None
            if isinstance(one.bearer, _Grove):
                self.reach("capsule lost with its machine")
                one.bearer = None

    # ── what is done ──────────────────────────────────────────────────────

    def _carry(self, one: _Carried) -> None:
        if isinstance(one.bearer, _Grove):
            self._retain(one)
            if self._branches < BRANCHES and self._rng.random() < _BRANCHED:
                self._branch(one)
                return
            operation = self._rng.choice(_CHECKPOINTS)
            one.made += 1
            image = _Stored(one.made, once=operation is Operation.STOP)
            self._begin(one, _Note(operation, image, one.bearer, one.lived))
        elif _whole(one):
            self._restore(one, self._rng.choice(_whole(one)))
        else:
            # Lost with everything: it is begun again from its facts.
            fresh = self._born(one.session, Incarnation(one.lived + 1))
            one.bearer, one.groves, one.lived = fresh.bearer, fresh.groves, fresh.lived

    def _restore(self, one: _Carried, image: _Stored) -> None:
        if is_spent(once=image.once, tried=image.tried, lived=one.lived):
            self.reach("spent image refused")
            one.images.remove(image)
            return
        life = Incarnation(one.lived + 1)
        self._begin(one, _Note(Operation.RESTORE, image, None, life))

    def _branch(self, parent: _Carried) -> None:
        if not _whole(parent):
            return
        self._branches += 1
        image = _Stored(1, once=False, state=Image.WHOLE)
        name = SessionId(f"{parent.session}-{self._branches}")
        one = _Carried(name, None, Incarnation(0), images=[image], made=1)
        self._all.append(one)
        self._begin(one, _Note(Operation.BRANCH, image, None, Incarnation(1)))

    def _begin(self, one: _Carried, note: _Note) -> None:
        self.reach(f"operation: {note.operation}")
        _Porter(self, one, note, is_heir=False)

    def _retain(self, one: _Carried) -> None:
        kept = [
            Kept(one.session, image.number, image.number, 10, "", image is one.bearer)
            for image in one.images
        ]
        gone = {image.number for image in removable(kept, BOUNDS)}
        one.images = [image for image in one.images if image.number not in gone]

    def _born(self, session: SessionId, incarnation: Incarnation) -> _Carried:
        grove = _Grove(incarnation, Tree.RUNNING)
        return _Carried(session, grove, incarnation, groves=[grove])


def _set(grove: _Grove | None, state: Tree) -> None:
    # What is gone stays so.
    if grove is not None and grove.state is not Tree.GONE:
        grove.state = state


def _state(grove: _Grove | None) -> Tree:
    return Tree.GONE if grove is None else grove.state


def _whole(one: _Carried) -> list[_Stored]:
    return [image for image in one.images if image.state is Image.WHOLE]
