"""How long does it take to put an act into the logbook, and to make it durable?

As a holder does it: an entry is drafted, chained, appended to the file and made
the head. What the disk takes to make it durable comes after the echo.
"""

import statistics
import tempfile
import time
from pathlib import Path

from bench.table import Row, Scale, Table, percentile, progress

from holdfast.core.entries import Admission, input_fields
from holdfast.core.logbook import EntryKind, Logbook, genesis
from holdfast.holder.log_file import LogFile
from holdfast.model.actors import ActorKind
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    Epoch,
    SessionId,
    actor_id,
    client_id,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.verdicts import Verdict

SESSION = SessionId("s_" + "a" * 16)
BY_DEFAULT = Admission(Verdict.ALLOW, "default-human")


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the logbook's file."""
    entries = scale.pick(2000, 100)
    appending, syncing = [], []
    # Where holders keep theirs is a disk; where temporary files are may be none.
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        file = LogFile(Path(folder) / "book", SESSION)
        book = Logbook(genesis(SESSION))
        for number in range(entries):
            progress(f"logbook, {number + 1} of {entries}")
            began_at = time.perf_counter()
            entry = book.draft(
                EntryKind.INPUT,
                input_fields(_key(number), ActorKind.HUMAN, BY_DEFAULT, None),
                FIRST_INCARNATION,
                Epoch(1),
                1_800_000_000_000 + number,
            )
            file.append(entry.line)
            book.commit(entry)
            between_at = time.perf_counter()
            file.sync()
            syncing.append(time.perf_counter() - between_at)
            appending.append(between_at - began_at)
    half, most = statistics.median(appending), percentile(appending, 0.99)
    table.add(Row("logbook append, p50", half * 1e3, "ms", at_most=1))
    table.add(Row("logbook append, p99", most * 1e3, "ms"))
    half = statistics.median(syncing) * 1e3
    table.add(Row("logbook made durable, p50", half, "ms"))


def _key(number: int) -> Input:
    return Input(
        InputId(client_id(bytes(ENTROPY)), number + 1),
        actor_id(b"bench"),
        InputKind.KEYS,
        FIRST_INCARNATION,
        Epoch(1),
        b"x",
    )
