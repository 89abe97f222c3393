"""How long does a user wait: for a session made, listed, or shown in full?

Beside each stands a bare start of Python in the same run, which is part of it.
"""

import statistics
import sys
import time

from bench.screens import Screen, finished, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import Machine, machine

FILL = "yes 'a line of output, long enough to be one of many' | head -c 3000000"
"""Prints three times what the window keeps."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about waiting for the command line."""
    repeats = scale.pick(25, 3)
    with machine() as here:
        session = here.new("sh", "-c", f"{FILL}; echo LAST-LINE; read stay")
        _shown(session)
        python, shown, made, asked, listed = [], [], [], [], []
        for number in range(repeats):
            progress(f"opening, {number + 1} of {repeats}")
            python.append(finished([sys.executable, "-c", "pass"]))
            shown.append(_shown(session))
            made.append(finished(holdfast("new", "--detach", "--", "sleep", "10000")))
            asked.append(_asked(here))
            listed.append(finished(holdfast("ls")))
    start = statistics.median(python) * 1e3
    table.add(Row("`python -c pass`, p50", start, "ms"))
    paint = statistics.median(shown) * 1e3
    table.add(Row("attach to full paint, window full, p50", paint, "ms", at_most=100))
    most = percentile(shown, 1.0) * 1e3
    table.add(Row(f"attach to full paint, worst of {repeats}", most, "ms"))
    birth = statistics.median(made) * 1e3
    table.add(Row("`new --detach`, keeper up, p50", birth, "ms", at_most=60))
    alone = statistics.median(asked) * 1e3
    table.add(Row("a session made, at the keeper alone, p50", alone, "ms"))
    listing = statistics.median(listed) * 1e3
    table.add(Row("`ls`, p50", listing, "ms"))


def _shown(session: str) -> float:
    began_at = time.perf_counter()
    with Screen(*holdfast("attach", session)) as screen:
        screen.sees(b"LAST-LINE")
        return time.perf_counter() - began_at


def _asked(here: Machine) -> float:
    began_at = time.perf_counter()
    here.new("sleep", "10000")
    return time.perf_counter() - began_at
