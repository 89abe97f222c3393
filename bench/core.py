"""Speed of the pure core, without any process around it."""

import time

from bench.table import Row, Scale, Table

from holdfast.core.book.logbook import EntryKind, Logbook, genesis, verify
from holdfast.core.session.stream import StreamWindow
from holdfast.model.ids import Epoch, Incarnation, SessionId
from holdfast.testing.sim import run_seed
from holdfast.wire.codec import output_frame
from holdfast.wire.frames import FrameReader

SESSION = SessionId("s_" + "a" * 16)
CHUNK = bytes(65_536)


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the core."""
    entries = scale.pick(100_000, 10_000)
    runs = [run_seed(seed) for seed in range(scale.pick(10, 2))]
    rate = sum(run.events for run in runs) / sum(run.cpu for run in runs)
    table.add(Row("simulator, one core", rate, "/s", at_least=50_000))
    lines, spent = _lines(entries)
    micros = spent / entries * 1e6
    table.add(Row("logbook entry drafted and chained", micros, "us", at_most=1000))
    began = time.process_time()
    verify(lines, SESSION)
    spent = (time.process_time() - began) * 100_000 / entries
    table.add(Row("100,000 logbook entries verified", spent, "s", at_most=2))
    table.add(Row("stream window append, 64 KiB", _window(), "MB/s"))
    table.add(Row("output framed and read again, 64 KiB", _frames(), "MB/s"))


def _lines(entries: int) -> tuple[list[bytes], float]:
    book, lines = Logbook(genesis(SESSION)), []
    fields: dict[str, str | int | bool | None] = {
        "actor": "a_" + "b" * 32,
        "client": "c_" + "a" * 16,
        "sequence": 1,
    }
    began = time.process_time()
    for number in range(entries):
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


def _window() -> float:
    window = StreamWindow.create(memoryview(bytearray(1024 * 1024)))
    began = time.process_time()
    for _ in range(4096):
        window.append(CHUNK)
    return 4096 * len(CHUNK) / (time.process_time() - began) / 1e6


def _frames() -> float:
    reader, began = FrameReader(), time.process_time()
    for number in range(2000):
        reader.feed(output_frame(number * len(CHUNK), CHUNK))
    return 2000 * len(CHUNK) / (time.process_time() - began) / 1e6
