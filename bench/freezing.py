"""Measure how long it takes to stop and to wake a session of 500 processes.

    .venv/bin/python bench/freezing.py

The processes sleep, as most do. Both ways of freezing are measured where this
machine has both; figures are of this machine and this moment.
"""

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from holdfast.linux.cgroups import SessionCgroup, ground
from holdfast.linux.freezing import freeze, thaw
from holdfast.linux.process_table import Tree

PROCESSES = 500
ROUNDS = 40
BUDGET_MS = 50.0
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


def main() -> int:
    """Print each figure; return 1 if a median is over its budget."""
    found = ground()
    ways: list[SessionCgroup | None] = [None]
    if found.folder is not None:
        ways.append(SessionCgroup.below(found.folder, SESSION))
    else:
        print(f"no cgroup: {found.why_not}")
    return max(_measured(way) for way in ways)


def _measured(cgroup: SessionCgroup | None) -> int:
    with _session(cgroup) as leader:
        tree = Tree.of(leader, SESSION)
        stopping, waking = [], []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            frozen = freeze(tree, cgroup)
            between = time.perf_counter()
            thaw(frozen)
            waking.append((time.perf_counter() - between) * 1000)
            stopping.append((between - began) * 1000)
            if frozen.count != PROCESSES or frozen.missed:
                print(f"{frozen.count} stood still, missed {frozen.missed}")
                return 1
    by = "signals" if cgroup is None else "cgroup"
    holds = statistics.median(stopping) <= BUDGET_MS
    _print(
        f"freeze of {PROCESSES} processes by {by}", stopping, "ok" if holds else "OVER"
    )
    _print(f"thaw of {PROCESSES} processes by {by}", waking, "")
    return 0 if holds else 1


def _print(what: str, figures: list[float], mark: str) -> None:
    middle, worst = statistics.median(figures), max(figures)
    print(f"{what:<42} p50 {middle:>7.1f} ms   max {worst:>7.1f} ms   {mark}")


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


if __name__ == "__main__":
    sys.exit(main())
