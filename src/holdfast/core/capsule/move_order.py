"""In which order does a session leave this host for another?

Theory of operation
-------------------
Who moves a session does one step after another, and can be killed in each; so can both
hosts, the relay and every link between them. What is on disk, and what the relay has
written down, tells where to go on:

    step     what it does                                      stage on disk afterwards
    CHECK    ask both hosts what stands in the way              (none)
    NOTE     write down where it is to go                       ASKED
    ENTRUST  tell the relay that the other host may come next   ASKED
    STOP     put the session to disk; its tree ends             STOPPED
    SEND     bring image and logbook to the other host          STOPPED
    RELEASE  tell the relay that nobody speaks for it here      OFFERED
    COMMIT   have the other host claim the lease and go on      GONE
    FORGET   remove the image here, and keep where it went      (none)

A session goes on, anywhere, only as an incarnation that its relay has granted after the
stop, and the relay grants each to one host. So what the relay says is what is true: if
the other host refuses or does not answer, the next incarnation is claimed here
(RECLAIM). Granted, the session goes on here, and nothing that the other host does later
counts. Held by the other host, or if the relay does not answer either, the image stays
where it is, and the next who asks finds the note. Only the other host's own word that
the session goes on there removes the image here.

What fails before STOP is undone: the session never noticed. A step that fails for want
of an answer is tried again until the time is up; one that was refused is not.

Invariants, checked by tests/core/capsule/test_move_order.py and its adversary:

I1  COMMIT is asked for only after the tree here has ended and its lease was released.
I2  The image here is removed only when the other host has said that it goes on there.
I3  Nothing goes on here that was stopped, unless RECLAIM was granted.
I4  While anything is half-done, the note says so.
"""

import enum
from dataclasses import dataclass


class Stage(enum.StrEnum):
    """How far a move had come, as it is written down."""

    ASKED = "asked"
    """It is to go; it lives here, or is being stopped."""
    STOPPED = "stopped"
    """Its image is the session."""
    OFFERED = "offered"
    """The other host may have gone on with it."""
    GONE = "gone"
    """The other host has gone on with it."""


class Step(enum.StrEnum):
    """One thing to do; see the table above."""

    CHECK = "check"
    NOTE = "note"
    ENTRUST = "entrust"
    STOP = "stop"
    SEND = "send"
    RELEASE = "release"
    COMMIT = "commit"
    RECLAIM = "reclaim"
    FORGET = "forget"
    DROP = "drop"
    """Remove the note: the session lives here."""
    REST = "rest"
    """Leave everything as it is: the relay does not let it go on here."""


class Ending(enum.Enum):
    """What became of it."""

    MOVED = enum.auto()
    STAYED = enum.auto()
    RESTS = enum.auto()
    """It is on disk here; asking again goes on."""


@dataclass(frozen=True, slots=True)
class Done:
    """The step was done."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The step was refused, for good; nothing of it was done."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Nobody answered: it may have been done."""


Event = Done | Refused | Unanswered

_ORDER = (
    Step.CHECK,
    Step.NOTE,
    Step.ENTRUST,
    Step.STOP,
    Step.SEND,
    Step.RELEASE,
    Step.COMMIT,
    Step.FORGET,
)

_RESUMES = {
    Stage.ASKED: Step.ENTRUST,
    Stage.STOPPED: Step.ENTRUST,
    Stage.OFFERED: Step.RELEASE,
    Stage.GONE: Step.FORGET,
}

_STAGES = {
    Step.NOTE: Stage.ASKED,
    Step.STOP: Stage.STOPPED,
    Step.RELEASE: Stage.OFFERED,
    Step.COMMIT: Stage.GONE,
}
"""What is to be written down once a step is done."""

_ONCE = {Step.CHECK, Step.NOTE, Step.RECLAIM, Step.FORGET, Step.DROP, Step.REST}
"""Steps that are not tried again."""

_ENDINGS = {
    Step.FORGET: Ending.MOVED,
    Step.DROP: Ending.STAYED,
    Step.REST: Ending.RESTS,
}


class MoveOrder:
    """One move, seen from the host that the session leaves."""

    def __init__(self, stage: Stage | None = None) -> None:
        """Begin, or go on where a note says that somebody stopped."""
        self.step = Step.CHECK if stage is None else _RESUMES[stage]
        """What to do now."""

        self.stage = stage
        """What the note says; None if there is none."""

        self.ending: Ending | None = None
        """What became of it; None until it is over."""

    @property
    def is_stopped(self) -> bool:
        """Whether the image is the session, so that only a grant lets it go on."""
        return self.stage not in (None, Stage.ASKED)

    def take(self, event: Event, *, is_late: bool = False) -> Stage | None:
        """Take what came of the step; return what to write down before the next.

        `is_late` says that the time is up: what nobody answers is not tried again.
        """
        if isinstance(event, Done):
            return self._go_on()
        if isinstance(event, Refused) or is_late or self.step in _ONCE:
            self._turn_back()
        return None  # What nobody answered is done again: each step can be.

    def _go_on(self) -> Stage | None:
        done = self.step
        if done in _ENDINGS:
            self.ending = _ENDINGS[done]
            return None
        if done is Step.RECLAIM:
            self.step = Step.DROP
            return None
        self.step = _ORDER[_ORDER.index(done) + 1]
        if done is Step.ENTRUST and self.is_stopped:
            self.step = Step.SEND  # It was stopped before, and we went on from there.
        return self._noted(_STAGES.get(done))

    def _noted(self, stage: Stage | None) -> Stage | None:
        if stage is None or stage is self.stage:
            return None
        self.stage = stage
        return stage

    def _turn_back(self) -> None:
        if self.step in _ENDINGS:
            self.ending = _ENDINGS[self.step]  # The note is there, and says it all.
        elif self.step is Step.RECLAIM:
            self.step = Step.REST
        else:
            self.step = Step.RECLAIM if self.is_stopped else Step.DROP
