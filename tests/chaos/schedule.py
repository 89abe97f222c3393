"""Which faults strike when? A seed decides, and nothing else.

The same seed and length give the same schedule on every machine. What a machine cannot
inject is in it all the same, and is reported as not injected there.

Every kind of fault is dealt once before any is dealt again, so that a short run meets
many of them.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

PACE = 0.7
"""Mean seconds between the beginnings of two faults."""

LONGEST = 3.0
"""Seconds that a fault lasts at most: a process that is stopped so long is replaced."""

KEEPERS = ("keeper", "nursery", "trustee", "dozer")
"""Processes of which a machine has one, for all its sessions."""

HELD = ("typed", "worked", "printed")
"""Sessions whose holder is a victim."""

HOLDERS = tuple(f"holder of {name}" for name in HELD)

FAR = ("host", "host of beta", "keeper of beta", "relay", "painter")

VICTIMS = (*KEEPERS, *HOLDERS, *FAR)

PAIRS = (
    ("keeper", "holder of typed"),
    ("keeper", "trustee"),
    ("nursery", "holder of worked"),
    ("trustee", "holder of printed"),
    ("keeper", "nursery"),
    ("host", "relay"),
)
"""Two that die in the same moment."""

STARVED = ("keeper", "holder of typed", "holder of printed", "host", "relay")
"""Processes whose descriptors run out."""

CLOCK_STEPS = ("an hour forward", "an hour back")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: what happens to whom, so many seconds after the start."""

    at: float
    kind: str
    victim: str
    seconds: float = 0.0

    def __str__(self) -> str:
        """Name it in a few words."""
        lasts = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.kind} {self.victim}".strip() + lasts


def _deck() -> list[tuple[str, str]]:
    """Return every fault there is, once."""
    dealt = [("kill", victim) for victim in VICTIMS]
    dealt += [("stop", victim) for victim in VICTIMS]
    dealt += [("kill both", " and ".join(pair)) for pair in PAIRS]
    dealt += [("exhaust descriptors of", victim) for victim in STARVED]
    dealt += [("step the clock", step) for step in CLOCK_STEPS]
    dealt += [(kind, "") for kind in ALONE for _ in range(2)]
    return dealt


ALONE = ("partition", "cut links", "slow links", "fill the disk", "fork bomb")
"""What has no victim to choose."""

KINDS = (
    *("kill", "stop", "kill both", "exhaust descriptors of", "step the clock"),
    *ALONE,
)

INSTANT = ("kill", "kill both", "cut links")
"""Faults that are over at once."""


def schedule(seed: int, seconds: float) -> list[Fault]:
    """Return the faults of a run, in order; all are over when it ends."""
    chance = random.Random(f"holdfast chaos {seed}")  # noqa: S311  # must repeat
    faults: list[Fault] = []
    at = chance.expovariate(1 / PACE)
    for kind, victim in _dealt(chance):
        lasts = 0.0 if kind in INSTANT else chance.uniform(0.2, LONGEST)
        lasts = round(min(lasts, max(seconds - at, 0.2)), 3)
        if at >= seconds:
            return faults
        faults.append(Fault(round(at, 3), kind, victim, lasts))
        at += chance.expovariate(1 / PACE)
    raise AssertionError("the deck is dealt for ever")


def _dealt(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Deal every kind once in any order, then the whole deck, again and again."""
    first = _deck()
    chance.shuffle(first)
    opening = {kind: (kind, victim) for kind, victim in first}
    order = list(KINDS)
    chance.shuffle(order)
    yield from (opening[kind] for kind in order)
    while True:
        deck = _deck()
        chance.shuffle(deck)
        yield from deck
