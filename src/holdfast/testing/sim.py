"""Run simulated worlds, one for each seed, and say what was seen.

    python -m holdfast.testing.sim --seeds 200     seeds 0 to 199
    python -m holdfast.testing.sim --seed 17       one seed, with its story

A failing seed is printed with the one command that repeats it.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from holdfast.model.errors import HoldfastError
from holdfast.testing.cluster import Cluster
from holdfast.testing.situations import MINIMUM
from holdfast.testing.world import Violation

ENOUGH = 100
"""Seeds from which on the minimum counts of situations are demanded."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one seed showed."""

    seed: int
    events: int
    simulated: float
    cpu: float
    trace: str
    failure: str
    reached: Counter[str] = field(default_factory=Counter)


def run_seed(seed: int) -> Run:
    """Run the world of one seed to its end, or to its first violation."""
    began = time.process_time()
    cluster = Cluster(seed)
    failure = ""
    try:
        cluster.run()
    except (Violation, HoldfastError, AssertionError) as error:
        failure = f"{type(error).__name__} at {cluster.world.now:.3f} s: {error}"
    world = cluster.world
    return Run(
        seed,
        world.events,
        world.now,
        time.process_time() - began,
        world.trace_hash(),
        failure,
        world.reached,
    )


def run_seeds(seeds: Iterable[int], jobs: int) -> Iterator[Run]:
    """Run many seeds, in as many processes as asked for, in order."""
    if jobs == 1:
        yield from map(run_seed, seeds)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(run_seed, seeds, chunksize=1)


def missed(reached: Counter[str], seeds: int) -> dict[str, int]:
    """Return the situations that were reached too rarely, and how often."""
    if seeds < ENOUGH:
        return {}
    return {
        name: reached[name]
        for name, minimum in MINIMUM.items()
        if reached[name] < minimum * seeds // ENOUGH
    }


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for, and return the exit status."""
    parser = argparse.ArgumentParser(prog="sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many (20)")
    parser.add_argument("--first", type=int, default=0, help="from which on (0)")
    parser.add_argument("--seed", type=int, help="only this one, with its story")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument(
        "--stop", action="store_true", help="stop at the first failing seed"
    )
    options = parser.parse_args(arguments)
    if options.seed is not None:
        return _one(options.seed)
    return _many(range(options.first, options.first + options.seeds), options)


def _one(seed: int) -> int:
    run = run_seed(seed)
    _print_reached(run.reached, {})
    print(f"seed {seed}: {run.events} events, trace {run.trace}")
    print(run.failure or "every invariant held")
    return 1 if run.failure else 0


def _many(seeds: range, options: argparse.Namespace) -> int:
    reached: Counter[str] = Counter()
    failed = events = 0
    simulated = cpu = 0.0
    for count, run in enumerate(run_seeds(seeds, options.jobs), start=1):
        reached += run.reached
        events += run.events
        simulated += run.simulated
        cpu += run.cpu
        if run.failure:
            failed += 1
            print(f"seed {run.seed}: {run.failure}")
            print(
                f"  again: {sys.executable} -m holdfast.testing.sim --seed {run.seed}"
            )
            if options.stop:
                return 1
        if count % 50 == 0 and count < len(seeds):
            print(f"  {count} of {len(seeds)} seeds", flush=True)
    short = missed(reached, len(seeds))
    _print_reached(reached, short)
    print(
        f"{len(seeds)} seeds, {events} events, {simulated / 3600:.1f} simulated hours,"
        f" {events / max(cpu, 1e-9):,.0f} events a second on one core"
    )
    for name, times in short.items():
        print(f"reached too rarely to mean anything: {name} ({times} times)")
    print(f"{len(seeds) - failed} passed, {failed} failed")
    return 1 if failed or short else 0


def _print_reached(reached: Counter[str], short: dict[str, int]) -> None:
    print("situations reached:")
    for name in sorted(reached | Counter(short)):
        wanted = (
            f"  (at least {MINIMUM[name]} in {ENOUGH} seeds)" if name in short else ""
        )
        print(f"  {reached[name]:>8}  {name}{wanted}")


if __name__ == "__main__":
    sys.exit(main())
