"""Measure what the budgets say of the pure core, and print each beside its budget.

    make bench

Figures are of this machine and this moment; timing decides no test.
"""

import platform
import sys
import time

from holdfast.core.logbook import EntryKind, Logbook, genesis, verify
from holdfast.core.stream import StreamWindow
from holdfast.model.ids import Epoch, Incarnation, SessionId
from holdfast.testing.sim import run_seed
from holdfast.wire.codec import output_frame
from holdfast.wire.frames import FrameReader

SESSION = SessionId("s_" + "a" * 16)
ENTRIES = 100_000
CHUNK = bytes(65_536)


def main() -> int:
    """Print every figure; return 1 if one is outside its budget."""
    print(f"Python {platform.python_version()}, {platform.machine()}")
    rows = [_simulator(), _verification(), _append(), _window(), _frames()]
    for what, figure, unit, budget, holds in rows:
        mark = "ok" if holds else "OVER"
        print(f"{what:<42} {figure:>14,.2f} {unit:<9} {budget:<14} {mark}")
    return 0 if all(row[-1] for row in rows) else 1


Row = tuple[str, float, str, str, bool]


def _simulator() -> Row:
    runs = [run_seed(seed) for seed in range(10)]
    rate = sum(run.events for run in runs) / sum(run.cpu for run in runs)
    return "simulator, one core", rate, "events/s", ">= 50,000", rate >= 50_000


def _lines() -> tuple[list[bytes], float]:
    book, lines = Logbook(genesis(SESSION)), []
    fields = {"actor": "a_" + "b" * 32, "client": "c_" + "a" * 16, "sequence": 1}
    began = time.process_time()
    for number in range(ENTRIES):
        entry = book.draft(
            EntryKind.INPUT,
            fields,
            Incarnation(1),
            Epoch(1),
            1_800_000_000_000 + number,
        )
        book.commit(entry)
        lines.append(entry.line)
    return lines, time.process_time() - began


def _verification() -> Row:
    lines, _ = _lines()
    began = time.process_time()
    verify(lines, SESSION)
    spent = time.process_time() - began
    return "100,000 logbook entries verified", spent, "s", "<= 2", spent <= 2


def _append() -> Row:
    _, spent = _lines()
    micros = spent / ENTRIES * 1e6
    return "logbook entry drafted and chained", micros, "us", "<= 1,000", micros <= 1000


def _window() -> Row:
    window = StreamWindow.create(memoryview(bytearray(1024 * 1024)))
    began = time.process_time()
    for _ in range(4096):
        window.append(CHUNK)
    rate = 4096 * len(CHUNK) / (time.process_time() - began) / 1e6
    return "stream window append, 64 KiB", rate, "MB/s", "no budget", True


def _frames() -> Row:
    reader, began = FrameReader(), time.process_time()
    for number in range(2000):
        reader.feed(output_frame(number * len(CHUNK), CHUNK))
    rate = 2000 * len(CHUNK) / (time.process_time() - began) / 1e6
    return "output framed and read again, 64 KiB", rate, "MB/s", "no budget", True


if __name__ == "__main__":
    sys.exit(main())
