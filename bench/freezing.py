"""Time to freeze and to thaw a session of 500 processes.

The processes sleep, as most do. Both ways of freezing are measured where this
machine has both.
"""

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.table import Row, Scale, Table, progress

from holdfast.linux.cgroups import SessionCgroup, ground
from holdfast.linux.freezer import freeze, thaw
from holdfast.linux.process_table import Tree

PROCESSES = 500
SESSION = "s_aaaaaaaaaaaaaaaa"

PROGRAM = f"""
import os, signal, sys
sys.stdin.readline()
for _ in range({PROCESSES - 1}):
    if os.fork() == 0:
        signal.pause()
print("up", flush=True)
signal.pause()
"""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about freezing."""
    rounds = scale.pick(40, 3)
    _measure(table, rounds, None)
    found = ground()
    if found.folder is None:
        table.note(f"nothing is frozen by cgroup: {found.why_not}")
    else:
        _measure(table, rounds, SessionCgroup.below(found.folder, SESSION))


def _measure(table: Table, rounds: int, cgroup: SessionCgroup | None) -> None:
    by = "signals" if cgroup is None else "cgroup"
    stopping, waking = [], []
    with _session(cgroup) as leader:
        tree = Tree.of(leader, SESSION)
        for number in range(rounds):
            progress(f"freezing by {by}, {number + 1} of {rounds}")
            began_at = time.perf_counter()
            frozen = freeze(tree, cgroup)
            between_at = time.perf_counter()
            thaw(frozen)
            waking.append(time.perf_counter() - between_at)
            stopping.append(between_at - began_at)
            if frozen.count != PROCESSES or frozen.missed:
                table.note(f"{frozen.count} stood still, missed {frozen.missed}")
    half, most = statistics.median(stopping) * 1e3, max(stopping) * 1e3
    what = f"freeze of {PROCESSES} processes by {by}"
    table.add(Row(f"{what}, p50", half, "ms", at_most=50))
    table.add(Row(f"{what}, slowest of {rounds}", most, "ms"))
    half = statistics.median(waking) * 1e3
    table.add(Row(f"thaw of {PROCESSES} processes by {by}, p50", half, "ms"))


@contextlib.contextmanager
def _session(cgroup: SessionCgroup | None) -> Iterator[int]:
    process = subprocess.Popen(  # noqa: S603  # a program of our own
        [sys.executable, "-c", PROGRAM],
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None  # noqa: S101  # both are pipes
    assert process.stdout is not None  # noqa: S101
    try:
        if cgroup is not None:
            cgroup.make()
            cgroup.settle(process.pid)
        process.stdin.write(b"go\n")
        process.stdin.flush()
        process.stdout.readline()
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if cgroup is not None:
            _removed(cgroup)


def _removed(cgroup: SessionCgroup) -> None:
    for _ in range(1000):
        cgroup.remove()
        if not cgroup.folder.exists():
            return
        time.sleep(0.01)
