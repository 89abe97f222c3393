"""How long a session is out of reach when its holder is killed."""

import statistics
import time

from bench.screens import Screen, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import Machine, machine

KEYS = b"wxyz"

APART = 0.3
"""Seconds between two kills: holders that die in a row are replaced ever later."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about being attached again."""
    repeats = scale.pick(40, 5)
    with machine() as here:
        _report(table, "holder killed, attached again", _attached(here, repeats))
        _report(table, "holder killed, next key shown", _shown(here, repeats))


def _report(table: Table, what: str, taken: list[float]) -> None:
    half = statistics.median(taken) * 1e3
    most = percentile(taken, 0.99) * 1e3
    table.add(Row(f"{what}, p50", half, "ms"))
    table.add(Row(f"{what}, p99 of {len(taken)}", most, "ms", at_most=500))


def _attached(here: Machine, repeats: int) -> list[float]:
    session = here.new("cat")
    client = here.join(session)
    taken = []
    for number in range(repeats):
        progress(f"recovery, {number + 1} of {repeats}")
        here.kill("holder", session)
        began_at = time.perf_counter()
        client.attach()
        taken.append(time.perf_counter() - began_at)
        here.wait_whole(session)
        time.sleep(APART)
    return taken


def _shown(here: Machine, repeats: int) -> list[float]:
    session = here.new("cat")
    taken = []
    with Screen(*holdfast("attach", session)) as screen:
        screen.settles(0.5)
        for number in range(repeats):
            progress(f"recovery of the command line, {number + 1} of {repeats}")
            key = KEYS[number % len(KEYS) :][:1]
            here.kill("holder", session)
            began_at = time.perf_counter()
            screen.types(key)
            screen.sees(key, 20)
            taken.append(time.perf_counter() - began_at)
            here.wait_whole(session)
            screen.settles(APART)
    return taken
