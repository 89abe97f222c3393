"""How far a frame is behind a flood when it ends, and what a frame costs to watch.

The program says by a file when it has printed all; from there until the last line is
on the viewer's terminal is how far the frame was behind. Raw is measured likewise.
"""

import contextlib
import os
import tempfile
import time
from pathlib import Path

from bench.screens import NeverCame, Screen, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import Machine, machine

LINES = 2_000_000
BEHIND = 100.0
"""Milliseconds that a frame may be behind at the end."""

SHARE = 30.0
"""Percent of a core for 30 frames a second."""

FLOOD = """echo READY; read go; yes | head -n {lines}
date +%s.%N > {told}; printf '\\nTHE''-END\\n'; sleep 600"""
FLOWING = "while :; do i=$((i+1)); echo line $i of what flows; sleep 0.01; done"

_FRAMED = b"\x1dv"
_TICK = os.sysconf("SC_CLK_TCK")


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about frames."""
    lines, rounds = scale.pick(LINES, 50_000), scale.pick(5, 1)
    with machine() as here, tempfile.TemporaryDirectory() as name:
        told = Path(name) / "told"
        for view, keys, most in (("framed", _FRAMED, BEHIND), ("raw", b"", None)):
            behind = []
            for number in range(rounds):
                progress(f"frames, {view}, flood {number + 1} of {rounds}")
                behind.append(_behind(here, lines, told, keys) * 1e3)
            what = f"{view}, `yes | head -n {lines}`, behind at its end"
            table.add(Row(f"{what}, p50", percentile(behind, 0.5), "ms", at_most=most))
            table.add(Row(f"{what}, worst", max(behind), "ms", at_most=most))
        _watched(table, here, scale.pick(10, 2))


def _behind(here: Machine, lines: int, told: Path, keys: bytes) -> float:
    session = here.new("sh", "-c", FLOOD.format(lines=lines, told=told))
    with Screen(*holdfast("attach", session)) as screen:
        screen.sees(b"READY")
        if keys:
            screen.types(keys)
            screen.sees(b"turn: free")
        screen.types(b"go\r")
        screen.sees(b"THE-END")
        seen = time.time_ns() / 1e9
    return seen - float(told.read_text())


def _watched(table: Table, here: Machine, seconds: int) -> None:
    session = here.new("sh", "-c", FLOWING)
    with Screen(*holdfast("attach", session)) as screen:
        screen.sees(b"of what flows")
        for view, keys, most in (("raw", b"", None), ("framed", _FRAMED, SHARE)):
            screen.types(keys)
            _read(screen, 2)
            before = _worked(screen.pid)
            _read(screen, seconds)
            share = (_worked(screen.pid) - before) / seconds * 100
            what = f"{view}, output that flows, of a core"
            table.add(Row(what, share, "%", at_most=most))


def _read(screen: Screen, seconds: float) -> None:
    """Read what is drawn for a while."""
    with contextlib.suppress(NeverCame):
        screen.sees(b"\0", timeout=seconds)


def _worked(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / _TICK
