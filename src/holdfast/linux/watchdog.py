"""Decides whether one of our processes still answers or must be replaced.

Theory of operation
-------------------
The watcher looks at a process every LOOK seconds, or every SOON if it is the
only one of its kind: which state the kernel gives it, and how much CPU time it
has used. That costs the watched process nothing, so a thousand idle holders stay
asleep. One that is stopped, or has worked a lot, is suspected: it is asked to answer
from its loop, and looked at every STEP.

    calm ──stands still, or works a lot──▶ asked ──one STEP──▶ stalled
      ▲                                      │                    │
      └──────────────answered────────────────┴────────────────────┤
                                                 silent, and evidence ──▶ Replace

Silence alone is no evidence: a machine may be overloaded, a disk slow, a debugger
at work. This is evidence:

    stopped   a stop signal holds it (T)
    looping   it has used MAX_CPU seconds of CPU time without returning to its loop;
              a quarter of that is enough after LATE seconds, on a busy machine, for
              one that has answered before
    asleep    it has slept for SLEEP seconds (S), though it has answered before

And this is not, however long it takes: a tracer holds it (t), it waits for the
kernel (D), its cgroup is frozen, or it is runnable but not scheduled (R).

Each time the same process is replaced within CALM seconds it is given twice the time,
so that one which hangs for a reason of its own is not killed over and over.

Invariants, checked by tests/linux/test_watchdog.py:

W1  One that answers within a STEP of being asked is never replaced.
W2  Nothing is replaced without evidence, nor before two looks after being asked.
W3  One that is stopped is to be replaced within five seconds, and so is one that
    loops on a machine that lets it run.
W4  Time in which the watcher itself did not run counts against nobody.
"""

import enum
from dataclasses import dataclass, field

from holdfast.linux.process_activity import Pulse

LOOK = 2.0
"""Seconds between two looks at a process of which nothing is suspected: together
with what follows, less than five."""

SOON = 1.0
"""The same for those of which there is one on a machine."""

STEP = 0.5
"""Seconds between two looks at one that was asked."""

SILENCE = 2 * STEP
"""Seconds without an answer, at least: two looks."""

LATE = 2.0
"""Seconds without an answer after which less work is a lot."""

SHARE = 0.1
"""Of the time between two looks, what is a lot of work."""

MAX_CPU = 1.0
"""Seconds of processor time between two rounds of a loop: a hundred times more than
any of ours takes."""

SLEEP = 30.0
"""Seconds that one may sleep without an answer: all our own waits are shorter."""

CALM = 120.0
"""Seconds without a replacement after which the next counts as the first."""

MAX_SILENCE = 60.0
"""Seconds without an answer that are given at the most."""

GAP = 1.0
"""Seconds by which a check may be late: one that is later was itself kept from
running, and perhaps all other processes too."""

_STOPPED = "T"
_STANDING = frozenset("Tt")
_SLEEPING = "S"
_SILENT = "it does not answer"
_TOLD = {
    "T": "it is stopped",
    "t": "it is being traced",
    "D": "it waits for the kernel",
}


class Act(enum.Enum):
    """What is to be done after a look."""

    NOTHING = enum.auto()
    ASK = enum.auto()
    """Have it answer from its loop."""

    REPLACE = enum.auto()
    """Kill it: it hangs."""


@dataclass(slots=True)
class Watch:
    """One process that is watched."""

    pid: int
    look_at: float
    every: float
    max_cpu: float
    silence: float = SILENCE
    """Seconds without an answer that are given at least."""

    replaced: int = 0
    """How often it was replaced in a row."""

    replaced_at: float | None = None
    why: str = ""
    """What is wrong with it, for people; empty while nothing is."""

    _seen: tuple[float, float] | None = None
    """When it was looked at last, and its processor time then."""

    _asked: tuple[float, float] | None = None
    """When it was asked, and its processor time then."""

    _has_answered: bool = False

    def looked(self, pulse: Pulse | None, now: float) -> Act:
        """Take a look at it, None if it is not shown; return what is to be done."""
        if self._asked is None:
            return self._suspect(pulse, now)
        self.look_at = now + STEP
        asked_at, cpu = self._asked
        silent = now - asked_at
        self.why = _told(pulse)
        evidence = self._evidence(pulse, cpu, silent)
        if not evidence or silent < min(self.silence * 2.0**self.replaced, MAX_SILENCE):
            return Act.NOTHING
        self.why = evidence
        return Act.REPLACE

    def answered(self, now: float) -> float:
        """Note that it has shown that its loop runs; return when to look again."""
        self._has_answered = True
        if self._asked is not None:
            self._asked, self._seen, self.why = None, None, ""
            self.look_at = _next_look(now, self.every)
        return self.look_at

    def excused(self) -> None:
        """Forget what it has not done: nobody ran."""
        if self._asked is not None:
            self._asked = self._seen = None

    def count(self, now: float) -> None:
        """Note that it is replaced."""
        since = None if self.replaced_at is None else now - self.replaced_at
        self.replaced = 1 if since is None or since > CALM else self.replaced + 1
        self.replaced_at = now
        self._asked = self._seen = None
        self.look_at = _next_look(now, self.every)

    def _suspect(self, pulse: Pulse | None, now: float) -> Act:
        before, cpu = self._seen, 0.0 if pulse is None else pulse.cpu
        self._seen, self.look_at = (now, cpu), _next_look(now, self.every)
        if pulse is not None and pulse.state not in _STANDING:
            since, used = (now, cpu) if before is None else before
            if cpu - used < SHARE * (now - since) or now == since:
                return Act.NOTHING
        self._asked, self.look_at = (now, cpu), now + STEP
        return Act.ASK

    def _evidence(self, pulse: Pulse | None, cpu: float, silent: float) -> str:
        if pulse is not None and pulse.is_held:
            return ""
        if pulse is not None and pulse.state == _STOPPED:
            return "it was stopped"
        # One that has never answered may be loading its code.
        is_late = self._has_answered and silent >= LATE
        most = self.max_cpu / 4 if is_late else self.max_cpu
        if pulse is not None and pulse.cpu - cpu >= most:
            return "it ran without an end"
        is_asleep = pulse is None or pulse.state == _SLEEPING
        if is_asleep and self._has_answered and silent >= SLEEP:
            return "it did not answer"
        return ""


def _next_look(now: float, every: float) -> float:
    """Return when to look next: at all processes at once, to wake up once."""
    return (now // every + 1) * every


def _told(pulse: Pulse | None) -> str:
    if pulse is None:
        return _SILENT
    return "its cgroup is frozen" if pulse.is_held else _TOLD.get(pulse.state, _SILENT)


@dataclass(slots=True)
class Watchdog:
    """All watched processes, by name."""

    watches: dict[str, Watch] = field(default_factory=dict)
    _due_at: float | None = None
    _is_due_known: bool = False

    def watch(
        self,
        name: str,
        pid: int,
        now: float,
        *,
        every: float = LOOK,
        max_cpu: float = MAX_CPU,
        silence: float = SILENCE,
    ) -> None:
        """Watch a process from now on, in place of another of this name."""
        self._is_due_known = False
        known = self.watches.get(name)
        if known is not None and known.pid == pid:
            known.max_cpu = max_cpu
            return
        look_at = _next_look(now, every)
        made = self.watches[name] = Watch(pid, look_at, every, max_cpu, silence)
        if known is not None:
            made.replaced, made.replaced_at = known.replaced, known.replaced_at

    def rest(self, name: str) -> None:
        """Watch nobody of this name until there is another; what was is kept."""
        self._is_due_known = False
        known = self.watches.get(name)
        if known is not None and known.replaced_at is None:
            del self.watches[name]
        elif known is not None:
            known.pid, known.why = 0, ""

    def drop(self, name: str) -> None:
        """Forget a name."""
        self._is_due_known = False
        self.watches.pop(name, None)

    def next_deadline(self) -> float | None:
        """Return when to look, or None."""
        if not self._is_due_known:
            self._is_due_known = True
            self._due_at = min(
                (one.look_at for one in self.watches.values() if one.pid), default=None
            )
        return self._due_at

    def due(self, now: float) -> list[str]:
        """Return at whom to look now."""
        if self._due_at is not None and now < self._due_at:
            return []
        self._is_due_known = False
        if self._due_at is not None and now > self._due_at + GAP:
            for one in self.watches.values():
                one.excused()
        return [
            name for name, one in self.watches.items() if one.pid and now >= one.look_at
        ]

    def looked(self, name: str, pulse: Pulse | None, now: float) -> Act:
        """Take a look at one of them; return what is to be done."""
        self._is_due_known = False
        watch = self.watches[name]
        act = watch.looked(pulse, now)
        if act is Act.REPLACE:
            watch.count(now)
        return act

    def is_asked(self, name: str) -> bool:
        """Tell whether one was asked and has not answered: then look closely."""
        return self.watches[name]._asked is not None  # noqa: SLF001  # its own file

    def answered(self, name: str, now: float) -> None:
        """Note that one has answered, or said anything else."""
        if (watch := self.watches.get(name)) is not None:
            self._is_due_known &= watch.look_at == watch.answered(now)

    def stalled(self, name: str) -> str:
        """Return what is wrong with one that does not answer; empty if nothing is."""
        watch = self.watches.get(name)
        return "" if watch is None else watch.why
