"""Time to learn what a session does, and what runs in it.

Asked of a real holder over its socket, connecting included. The command's own
start is measured apart: it is Python's. The large session has 200 processes with
2,000 descriptors between them.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import calls
from holdfast.model.ids import SessionId

PROCESSES = 200
OPEN = 10

PROGRAM = f"""
import os, signal
kept = [open("/etc/passwd") for _ in range({OPEN} - 3)]
for _ in range({PROCESSES} - 1):
    if os.fork() == 0:
        signal.pause()
signal.pause()
"""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about what is true now."""
    rounds = scale.pick(200, 10)
    with machine() as here:
        shell = here.new("bash", "--norc", "-i")
        eventually("a prompt", lambda: calls.state(shell).state == "at-prompt")
        asked = _timed("state", rounds, lambda: calls.state(shell))
        table.add(Row("state of a session, p50", asked, "ms", at_most=5))
        _measure_commands(table, shell, scale.pick(30, 3))
        _measure_graphs(table, here, scale.pick(30, 3))


def _measure_commands(table: Table, shell: SessionId, rounds: int) -> None:
    def run(*words: str) -> Callable[[], object]:
        command = [sys.executable, "-m", "holdfast", *words]
        return lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603  # our own

    start = _timed("--version", rounds, run("--version"))
    whole = _timed("state, command", rounds, run("state", shell))
    table.add(Row("`holdfast state`, p50", whole, "ms"))
    what = "`holdfast state` over `holdfast --version`, p50"
    table.add(Row(what, whole - start, "ms", at_most=100))


def _measure_graphs(table: Table, here: Machine, rounds: int) -> None:
    session = here.new(sys.executable, "-c", PROGRAM)
    eventually("all run", lambda: len(calls.graph(session).processes) == PROCESSES)
    for descriptors in (False, True):
        what = "and descriptors" if descriptors else "and sockets"
        took = _timed(
            f"graph with {what}",
            rounds,
            lambda: calls.graph(session, descriptors=descriptors),  # noqa: B023  # called at once
        )
        name = f"graph of {PROCESSES} processes {what}, p50"
        # Offsets and locks take a file for each descriptor, and are asked for rarely.
        table.add(Row(name, took, "ms", at_most=None if descriptors else 50))
    listed = len(calls.graph(session, descriptors=True).descriptors)
    others = sum(name.isdigit() for name in os.listdir("/proc"))  # noqa: PTH208  # only names
    table.note(f"{listed} descriptors; {others} processes on this machine")


def _timed(what: str, rounds: int, ask: Callable[[], object]) -> float:
    """Return how many milliseconds it takes half of the time."""
    taken = []
    for number in range(rounds):
        progress(f"{what}, {number + 1} of {rounds}")
        began_at = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - began_at)
    return statistics.median(taken) * 1e3
