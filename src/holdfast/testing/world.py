"""A simulated world in which chance and time come from one seed.

One thread, one heap of events, one generator. Everything that could differ
between two runs (latency, loss, who dies, how much of a disk survives) is drawn
from that generator, so the same seed gives the same run in any process, and the
trace hash proves it.

Processes live on machines. A machine can be frozen: what would happen on it
happens when it thaws, in order, and the machine does not notice until it looks
at its clock. A machine can die: what would happen on it never does.
"""

import hashlib
import heapq
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from holdfast.model.moments import Moment

Action = Callable[..., None]

SHORT_LATENCY = (0.002, 0.1)
LONG_LATENCY = (0.5, 8.0)


class Violation(AssertionError):
    """An invariant does not hold. The seed repeats it."""


class Machine:
    """A computer with a clock of its own, which may be frozen, or die and boot."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.name = name
        self.boot = 0
        """How often it has started; events of an earlier boot never happen."""

        self.is_up = True
        self._rate = world.rng.uniform(0.99, 1.01)
        self._started_at = world.now
        self._wall_skew = 0.0
        self._frozen_until = 0.0

    def clock(self) -> Moment:
        """Return what the machine's clocks show: both run through a freeze."""
        elapsed = (self.world.now - self._started_at) * self._rate
        wall = 1_800_000_000.0 + self.world.now + self._wall_skew
        return Moment(elapsed, wall, elapsed)

    def step_wall_clock(self, seconds: float) -> None:
        """Set the calendar wrong by this much more."""
        self._wall_skew += seconds

    def freeze(self, seconds: float) -> None:
        """Stop everything on the machine for a while."""
        self._frozen_until = max(self._frozen_until, self.world.now + seconds)

    def is_frozen(self) -> bool:
        """Tell whether nothing happens here now."""
        return self.world.now < self._frozen_until

    def die(self) -> None:
        """Lose power."""
        self.is_up = False
        self.boot += 1

    def start(self) -> None:
        """Boot, with clocks that count from zero."""
        self.is_up = True
        self._started_at = self.world.now
        self._frozen_until = 0.0

    def after(self, local_delay: float, action: Action, *args: Any) -> None:  # noqa: ANN401  # whatever the action takes
        """Do `action` here after a delay on this machine's clock."""
        delay = local_delay / self._rate
        self.world.after(delay, self._perform, self.boot, action, args)

    def _perform(self, boot: int, action: Action, args: tuple[Any, ...]) -> None:
        if boot != self.boot or not self.is_up:
            self.world.reached["lost with its machine"] += 1
        elif self.is_frozen():
            wait = self._frozen_until - self.world.now
            self.world.after(wait, self._perform, boot, action, args)
        else:
            action(*args)


class World:
    """The scheduler, the network, and what was seen."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.now = 0.0
        self.events = 0
        self.reached: Counter[str] = Counter()
        self.loss = 0.0
        self.duplication = 0.0
        self.reorders = False
        self.slowness = 0.0005
        self._last: dict[tuple[str, str], float] = {}
        self._heap: list[tuple[float, int, Action, tuple[Any, ...]]] = []
        self._scheduled = 0
        self._cut: dict[tuple[str, str], bool] = {}
        self._trace = hashlib.sha256()

    def after(self, delay: float, action: Action, *args: Any) -> None:  # noqa: ANN401  # whatever the action takes
        """Do `action` after `delay` true seconds."""
        self._scheduled += 1
        at = self.now + max(delay, 1e-6)
        heapq.heappush(self._heap, (at, self._scheduled, action, args))

    def run(self, until: float) -> None:
        """Let the world run until true time `until`."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            self.now, number, action, args = heapq.heappop(heap)
            self.events += 1
            self._trace.update(b"%d %.6f\n" % (number, self.now))
            action(*args)
        self.now = until

    def trace(self, *words: object) -> None:
        """Make something part of the trace hash."""
        self._trace.update(" ".join(map(str, words)).encode())

    def trace_hash(self) -> str:
        """Return what identifies this run."""
        return self._trace.hexdigest()[:16]

    # ── the network ───────────────────────────────────────────────────────

    def send(self, source: str, to: Machine, action: Action, *args: Any) -> None:  # noqa: ANN401  # whatever the action takes
        """Carry a message to a machine, perhaps late, twice, or never."""
        if (source, to.name) in self._cut:
            self.reached["message cut off"] += 1
            return
        if self.rng.random() < self.loss:
            self.reached["message lost"] += 1
            return
        self.after(self._transit(source, to.name), self._deliver, to, action, args)
        if self.rng.random() < self.duplication:
            self.reached["message duplicated"] += 1
            self.after(self._latency(), self._deliver, to, action, args)

    def cut(self, source: str, to: str) -> None:
        """Let no message pass in this direction."""
        self._cut[source, to] = True

    def heal(self, source: str, to: str) -> None:
        """Let messages pass again."""
        self._cut.pop((source, to), None)

    def heal_all(self) -> None:
        """End every disturbance of the network."""
        self._cut.clear()
        self.loss = self.duplication = 0.0
        self.slowness, self.reorders = 0.0, False

    def _deliver(self, to: Machine, action: Action, args: tuple[Any, ...]) -> None:
        to.after(0, action, *args)

    def _transit(self, source: str, to: str) -> float:
        """Return a latency that keeps messages between two machines in order."""
        latency = self._latency()
        if self.reorders:
            return latency
        arrival = max(self.now + latency, self._last.get((source, to), 0) + 1e-6)
        self._last[source, to] = arrival
        return arrival - self.now

    def _latency(self) -> float:
        # Now and then one arrives after the world has moved on.
        if self.rng.random() < self.slowness:
            self.reached["slow message"] += 1
            return self.rng.uniform(*LONG_LATENCY)
        return self.rng.uniform(*SHORT_LATENCY)


def demand(condition: bool, invariant: str, what: str) -> None:  # noqa: FBT001  # reads as a sentence
    """Do nothing if `condition` holds.

    Raises:
        Violation: It does not.

    """
    if not condition:
        raise Violation(f"{invariant}: {what}")
