"""Create, attach, detach, end, forget, thousands of times; then count what is left.

`python -m tests.scenarios.soak --cycles 2000` prints what it found, and exits with
1 if anything has leaked: a descriptor, a process, a file, or memory. With `--hours 8`
it goes on for so long, however many cycles that are.
"""

import argparse
import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.scenarios import witness
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

WARM_UP = 20
"""Cycles after which the interpreters have loaded and cached what they use."""

MAX_GROWTH = 1024 * 1024
"""Bytes that the keeper may have grown by: pages the allocator has not given back."""


LOOKS = 10
"""Counts of descriptors, of which the lowest is what a process keeps."""


@dataclass(frozen=True, slots=True)
class Found:
    """What keeper and nursery have at one moment."""

    keeper_descriptors: int
    nursery_descriptors: int
    keeper_bytes: int
    nursery_bytes: int
    zombies: int
    files: int
    disorder: str


def look(here: Machine) -> Found:
    """Count, once everything has come to rest."""
    witness.all_is_tidy(here)
    keeper, nursery = here.pid("keeper"), here.pid("nursery")
    return Found(
        keeper_descriptors=_at_rest(keeper),
        nursery_descriptors=_at_rest(nursery),
        keeper_bytes=witness.resident(keeper),
        nursery_bytes=witness.resident(nursery),
        zombies=len(witness.zombies(keeper) | witness.zombies(nursery)),
        files=sum(1 for _ in places.session_dir().iterdir()),
        disorder=witness.disorder(here),
    )


def _at_rest(pid: int) -> int:
    """Count descriptors a few times: the keeper hangs up on us a moment later."""
    counts = []
    for _ in range(LOOKS):
        counts.append(len(witness.descriptors(pid)))
        time.sleep(0.02)
    return min(counts)


def cycle(here: Machine, number: int) -> None:
    """Live through one session, in one of four ways."""
    session = here.new("cat")
    client = here.join(session)
    if number % 2:
        client.enter(b"word\r")
        client.wait_output(b"word")
    client.send(wire.Detach())
    client.close()
    match number % 4:
        case 0:
            end(here, session)
        case 1:
            witness.end(here, session)
            return
        case 2:
            here.kill("holder", session)
            end(here, session)
        case _:
            end(here, session)
    assert here.ask(do="forget", id=session)["ok"]


def end(here: Machine, session: SessionId) -> None:
    """End a session as an operator does."""
    client = here.join(session)
    client.send(wire.End(15, leave=False))
    exited = client.wait(wire.Exited)
    assert exited.status == -15, exited
    client.close()
    here.clients.clear()


def leaks(before: Found, after: Found) -> list[str]:
    """Return what is there now and should not be."""
    found = []
    for name in ("keeper_descriptors", "nursery_descriptors", "files"):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            found.append(f"{name}: {was} before, {now} after")
    if after.zombies:
        found.append(f"{after.zombies} zombies")
    if after.disorder:
        found.append(after.disorder)
    grown = after.keeper_bytes - before.keeper_bytes
    if grown >= MAX_GROWTH:
        found.append(f"the keeper has grown by {grown} bytes")
    return found


def soak(here: Machine, turns: Iterable[int]) -> tuple[Found, Found]:
    """Run the cycles; return what there was before and after."""
    for number in range(WARM_UP):
        cycle(here, number)
    keeper, before = here.pid("keeper"), look(here)
    for number in turns:
        cycle(here, number)
    assert eventually("there is a keeper", lambda: here.pid("keeper")) == keeper
    return before, look(here)


class Counted:
    """Cycles, and how many of them were begun."""

    def __init__(self, turns: Iterable[int]) -> None:
        self._turns = turns
        self.count = 0

    def __iter__(self) -> Iterator[int]:
        """Yield them."""
        for number in self._turns:
            self.count += 1
            yield number


def until(deadline: float) -> Iterator[int]:
    """Yield numbers until a time, and at least one."""
    for number in itertools.count():
        yield number
        if time.monotonic() >= deadline:
            return


def main() -> int:
    """Soak, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=2000)
    parser.add_argument("--hours", type=float, help="go on for so long instead")
    options = parser.parse_args()
    begun_at = time.monotonic()
    hours: float | None = options.hours
    turns: Iterable[int] = range(options.cycles)
    if hours is not None:
        turns = until(begun_at + hours * 3600)
    counted = Counted(turns)
    with machine() as here:
        before, after = soak(here, counted)
    seconds = time.monotonic() - begun_at
    print(f"{counted.count} cycles in {seconds:.1f} s", f"before {before}", sep="\n")  # noqa: T201  # a program
    print(f"after  {after}")  # noqa: T201
    found = leaks(before, after)
    print("\n".join(found) or "nothing has leaked")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
