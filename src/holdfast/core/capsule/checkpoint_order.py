"""The order of steps in a checkpoint, a restore or a swap to new files.

Theory of operation
-------------------
A porter, a process of its own for each operation, does one step after another. It
can be killed between any two of them, and within each; so can CRIU, the session's
holder and the keeper. The order is such that what is left tells what to do:

    KEEP     NOTE DUMP THAW SEAL CLEAR
    SWAP     NOTE DUMP BUILD RESTORE CHECK COMMIT FREE END SEAL CLEAR
    STOP     NOTE DUMP SEAL COMMIT END CLEAR
    RESTORE  NOTE VERIFY MARK BUILD RESTORE CHECK COMMIT FREE CLEAR
    BRANCH   NOTE VERIFY BUILD RESTORE CHECK COMMIT FREE CLEAR

    step     what it does                                    what is left if we die then
    NOTE     say durably what is about to be done             a note
    DUMP     CRIU writes the old tree, which stands still     a draft, and a still tree
    THAW     let the old tree go on                           a draft
    VERIFY   read the image, refuse a damaged one             nothing new
    MARK     note which incarnation the image is for          a mark, which counts only
                                                              if that incarnation lived
    BUILD    make a capsule; its lifeline is the porter's     nothing: it ends with us
    RESTORE  CRIU makes the new tree, standing still          nothing: it ends with us
    CHECK    is all of the new tree there?                    nothing: it ends with us
    SEAL     sync the image, manifest last                    a whole image
    COMMIT   the keeper gives the session's name on           a new bearer
    FREE     let the new tree go on                           a live tree
    END      end the old tree                                 one tree
    CLEAR    remove the note                                  nothing to mend

The *bearer* of a session's name is what the session is: its old tree, its new tree, or
its image. The keeper knows it, and gives the name on in one step, unless the operation
was settled before. Only the bearer may run. Before the commit that is what was there;
from then on it is what was made.

Whatever goes wrong, the way out is the same for the porter and for its successor: have
the keeper settle the operation, so that no commit that is still on its way changes the
bearer any more; end what is not the bearer; let the bearer go on; sweep a draft; clear
the note. A successor begins only when it has the lock on the note, which the kernel
takes from the dead.

Invariants, checked by tests/core/capsule/test_checkpoint_order.py, which dies in every
step, again and again, and by the simulator:

I1  At most one tree of a session runs, ever.
I2  The session is always there: its bearer is a tree that lives, or a whole image.
I3  When nothing is noted, nothing is half-done: no draft, no still or second tree.
I4  A whole image is never swept.
I5  An image that is for once begins one incarnation that lives, at most.
"""

import enum
from dataclasses import dataclass


class Operation(enum.StrEnum):
    """What is done to a session."""

    KEEP = "keep"
    """Checkpoint in place; the tree that was dumped goes on."""
    SWAP = "swap"
    """Checkpoint in place with its files; a restored tree goes on, on new layers."""
    STOP = "stop"
    """Checkpoint, after which the session is its image."""
    RESTORE = "restore"
    """Bring a session back, as its next incarnation."""
    BRANCH = "branch"
    """Make a new session from an image."""


class Step(enum.StrEnum):
    """One thing that a porter does; see the table above."""

    NOTE = "note"
    DUMP = "dump"
    THAW = "thaw"
    VERIFY = "verify"
    MARK = "mark"
    BUILD = "build"
    RESTORE = "restore"
    CHECK = "check"
    SEAL = "seal"
    COMMIT = "commit"
    FREE = "free"
    END = "end"
    CLEAR = "clear"
    SETTLE = "settle"
    """Have the keeper refuse every commit of this operation from now on."""
    DROP = "drop"
    """End the new tree, and its capsule."""
    SWEEP = "sweep"
    """Remove the draft."""


class Bearer(enum.StrEnum):
    """What the session is."""

    OLD = "old"
    NEW = "new"
    IMAGE = "image"
    NOBODY = "nobody"
    """A branch that is not there yet."""


class Tree(enum.StrEnum):
    """What is left of a tree of processes."""

    GONE = "gone"
    STILL = "still"
    """Something of it stands still because of us. A porter that was killed while it let
    a tree go on leaves one of which a part goes on already."""
    RUNNING = "running"
    """No process of it is stopped, except those stopped before by others."""


class Image(enum.StrEnum):
    """What is on disk."""

    NONE = "none"
    DRAFT = "draft"
    WHOLE = "whole"


class Outcome(enum.StrEnum):
    """How an operation ended, as far as its porter knows."""

    DONE = "done"
    UNDONE = "undone"
    """It did not take place; the session is as it was."""
    UNMENDED = "unmended"
    """Something could not be put right; the note is still there for a successor."""


@dataclass(frozen=True, slots=True)
class Found:
    """What there is, once the operation is settled."""

    bearer: Bearer
    old: Tree
    new: Tree
    image: Image


@dataclass(frozen=True, slots=True)
class Done:
    """A step was done."""

    step: Step


@dataclass(frozen=True, slots=True)
class Failed:
    """A step failed, or it is not known whether it was done."""

    step: Step
    why: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The keeper settled the operation; this is what was found then."""

    found: Found


@dataclass(frozen=True, slots=True)
class Perform:
    """Do a step, then tell how it went."""

    step: Step


@dataclass(frozen=True, slots=True)
class Finish:
    """Say how it ended, and end."""

    outcome: Outcome
    why: str


Event = Done | Failed | Settled
Effect = Perform | Finish

ORDER = {
    Operation.KEEP: (Step.NOTE, Step.DUMP, Step.THAW, Step.SEAL, Step.CLEAR),
    Operation.SWAP: (
        Step.NOTE,
        Step.DUMP,
        Step.BUILD,
        Step.RESTORE,
        Step.CHECK,
        Step.COMMIT,
        Step.FREE,
        Step.END,
        Step.SEAL,
        Step.CLEAR,
    ),
    Operation.STOP: (
        Step.NOTE,
        Step.DUMP,
        Step.SEAL,
        Step.COMMIT,
        Step.END,
        Step.CLEAR,
    ),
    Operation.RESTORE: (
        Step.NOTE,
        Step.VERIFY,
        Step.MARK,
        Step.BUILD,
        Step.RESTORE,
        Step.CHECK,
        Step.COMMIT,
        Step.FREE,
        Step.CLEAR,
    ),
    Operation.BRANCH: (
        Step.NOTE,
        Step.VERIFY,
        Step.BUILD,
        Step.RESTORE,
        Step.CHECK,
        Step.COMMIT,
        Step.FREE,
        Step.CLEAR,
    ),
}
"""The steps of each operation, if nothing goes wrong."""

BEARERS = {
    Operation.KEEP: Bearer.OLD,
    Operation.SWAP: Bearer.NEW,
    Operation.STOP: Bearer.IMAGE,
    Operation.RESTORE: Bearer.NEW,
    Operation.BRANCH: Bearer.NEW,
}
"""What bears the name when an operation is done."""


def mending(found: Found) -> tuple[Step, ...]:
    """Return what puts right whatever a porter left, once it is settled.

    What may not run ends before what may goes on: never do two.
    """
    steps = []
    if found.bearer is not Bearer.NEW and found.new is not Tree.GONE:
        steps.append(Step.DROP)
    if found.bearer is not Bearer.OLD and found.old is not Tree.GONE:
        steps.append(Step.END)
    if found.bearer is Bearer.OLD and found.old is Tree.STILL:
        steps.append(Step.THAW)
    if found.bearer is Bearer.NEW and found.new is Tree.STILL:
        steps.append(Step.FREE)
    if found.image is Image.DRAFT:
        steps.append(Step.SWEEP)
    return (*steps, Step.CLEAR)


class CheckpointOrder:
    """One operation, from its first step or from what another porter left of it."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._steps = ORDER[operation]
        self._place = 0
        self._found: Found | None = None
        self._why = ""

    def begin(self) -> list[Effect]:
        """Begin it."""
        return [Perform(self._steps[0])]

    def mend(self) -> list[Effect]:
        """Put right what was left of it; the lock on its note has to be ours."""
        self._why = "its porter died"
        return [Perform(Step.SETTLE)]

    def handle(self, event: Event) -> list[Effect]:
        """Take how a step went."""
        match event:
            case Done():
                self._place += 1
                if self._place < len(self._steps):
                    return [Perform(self._steps[self._place])]
                return [Finish(self._outcome(), self._why)]
            case Failed():
                return self._failed(event)
            case Settled():
                self._found = event.found
                self._steps, self._place = mending(event.found), 0
                return [Perform(self._steps[0])]

    def _failed(self, event: Failed) -> list[Effect]:
        if event.step is Step.NOTE:
            return [Finish(Outcome.UNDONE, event.why)]  # Nothing was begun.
        if event.step is Step.SETTLE or self._found is not None:
            return [Finish(Outcome.UNMENDED, event.why)]
        self._why = event.why
        return [Perform(Step.SETTLE)]

    def _outcome(self) -> Outcome:
        """Tell what came of it: what was to be made is there, or is not."""
        found = self._found
        if found is None:
            return Outcome.DONE
        is_made = found.image is Image.WHOLE and (
            found.bearer is BEARERS[self._operation]
        )
        return Outcome.DONE if is_made else Outcome.UNDONE
