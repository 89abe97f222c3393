"""How long the overview of many sessions takes to open, and what it costs to watch.

Beside the wait stands the processor time that it took: on a machine with other work the
wait is mostly others'.
"""

import contextlib
import os
import statistics
import sys
import time
from pathlib import Path

from bench.screens import NeverCame, Screen, holdfast
from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import machine

SESSIONS = 100
LIVE = "while :; do i=$((i+1)); echo LI''VE-$i; sleep 0.2; done"

_TICK = os.sysconf("SC_CLK_TCK")


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the overview."""
    count = scale.pick(SESSIONS, 10)
    repeats = scale.pick(15, 2)
    with machine() as here:
        for number in range(count - 4):
            progress(f"overview, session {number + 1} of {count}")
            here.new("sleep", "100000")
        for _ in range(4):
            here.new("sh", "-c", LIVE)
        mark = f"{count} sessions".encode()
        opened = [_opened(mark) for _ in range(repeats)]
        shown = [_opened(b"LIVE-") for _ in range(repeats)]
        bare = [_bare() for _ in range(repeats)]
        for what, took, most in (
            (f"`holdfast`, {count} sessions, to the list", opened, 300),
            ("  to a live picture of the newest", shown, None),
            ("  `python -c pass`, which is part of it", bare, None),
        ):
            wait, work = (
                statistics.median(one) * 1e3 for one in zip(*took, strict=True)
            )
            table.add(Row(f"{what}, p50", wait, "ms", at_most=most))
            table.add(Row("    processor time of it", work, "ms"))
        _watched(table, scale)


def _opened(mark: bytes) -> tuple[float, float]:
    began_at = time.perf_counter()
    with Screen(*holdfast()) as screen:
        screen.sees(mark)
        return time.perf_counter() - began_at, _worked(screen.pid)


def _bare() -> tuple[float, float]:
    began_at = time.perf_counter()
    with Screen(sys.executable, "-c", "print('up'); input()") as screen:
        screen.sees(b"up")
        return time.perf_counter() - began_at, _worked(screen.pid)


def _watched(table: Table, scale: Scale) -> None:
    """Add what the overview costs once it is open: the list, and a wall."""
    seconds = scale.pick(10, 2)
    with Screen(*holdfast()) as screen:
        screen.sees(b"LIVE-")
        for what, key in (("list", b"\x1b[H"), ("wall", b"w")):
            screen.types(key)
            _read(screen, 2)
            before = _worked(screen.pid)
            _read(screen, seconds)
            share = (_worked(screen.pid) - before) / seconds * 100
            table.add(Row(f"overview open, the {what}, of a core", share, "%"))


def _read(screen: Screen, seconds: float) -> None:
    """Read what is drawn for a while."""
    with contextlib.suppress(NeverCame):
        screen.sees(b"\0", timeout=seconds)


def _worked(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / _TICK
