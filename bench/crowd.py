"""What a frozen viewer costs the session and the other viewers.

Fifty watch while a program prints a gigabyte; one of them is a real command line
that is stopped. A viewer that cannot follow is told what it missed, and all the others
come to the end.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.output import text_file
from bench.processes import peak, resident
from bench.screens import Screen, holdfast
from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import Machine, machine

from holdfast.model.ids import SessionId

VIEWERS = 50
PIECE = 50
"""Megabytes in the file that is printed again and again."""


class Flood(NamedTuple):
    """One flood: how fast, how much the holder grew, and what each viewer saw."""

    rate: float
    growth: float
    seen: list[dict[str, Any]]


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about many viewers."""
    megabytes = scale.pick(1000, 50)
    with tempfile.TemporaryDirectory() as name, machine() as here:
        text = text_file(Path(name), PIECE)
        progress("crowd: one viewer")
        alone = _flood(here, text, max(PIECE, megabytes // 4), 1)
        progress(f"crowd: {VIEWERS} viewers, {megabytes} MB")
        session = here.new("sh", "-c", _program(text, megabytes))
        with Screen(*holdfast("attach", session, "--observe")) as frozen:
            frozen.sees(b"READY")
            os.kill(frozen.pid, signal.SIGSTOP)
            crowd = _through(here, session, megabytes, VIEWERS - 1)
            os.kill(frozen.pid, signal.SIGCONT)
            began_at = time.perf_counter()
            frozen.sees(b"THE-END", 20)
            caught_up = time.perf_counter() - began_at
    _report(table, alone, crowd, megabytes)
    what = "  the frozen one, continued, shows the end"
    table.add(Row(what, caught_up * 1e3, "ms"))


def _program(text: Path, megabytes: int) -> str:
    again = " ".join([str(text)] * max(1, megabytes // PIECE))
    return f"echo READY; read go; cat {again}; echo THE-END; read stay"


def _flood(here: Machine, text: Path, megabytes: int, viewers: int) -> Flood:
    session = here.new("sh", "-c", _program(text, megabytes))
    return _through(here, session, megabytes, viewers)


def _through(here: Machine, session: SessionId, megabytes: int, viewers: int) -> Flood:
    holder = here.pid("holder", session)
    starter = here.join(session)
    starter.wait_output(b"READY")
    with subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-m", "bench.viewers", session, str(viewers), "THE-END"],
        stdout=subprocess.PIPE,
    ) as crowd:
        assert crowd.stdout is not None  # noqa: S101  # asked for above
        crowd.stdout.readline()
        before = resident(holder)
        starter.enter(b"go\r")
        starter.close()
        began_at = time.perf_counter()
        seen = json.loads(crowd.stdout.readline())
        spent = time.perf_counter() - began_at
    return Flood(megabytes / spent, max(0.0, peak(holder) - before), seen)


def _report(table: Table, alone: Flood, crowd: Flood, megabytes: int) -> None:
    others = len(crowd.seen)
    ended = sum(one["ended"] for one in crowd.seen)
    what = f"{VIEWERS} viewers, one frozen, {megabytes} MB: others at the end"
    table.add(Row(what, ended, "", at_least=others))
    what = "  memory the holder grew by, at most"
    table.add(Row(what, crowd.growth, "MiB", at_most=16))
    table.add(Row("  output with 1 viewer", alone.rate, "MB/s"))
    table.add(Row(f"  output with {VIEWERS} viewers", crowd.rate, "MB/s"))
    table.add(Row("  time, against 1 viewer", alone.rate / crowd.rate, "x"))
    shares = [one["output"] / (megabytes * 1e6) * 100 for one in crowd.seen]
    table.add(Row("  of the output, seen by the one that saw least", min(shares), "%"))
    gaps = sum(one["gaps"] for one in crowd.seen)
    table.add(Row("  gaps told, all viewers together", gaps, ""))
