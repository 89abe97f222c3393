"""How long it takes to put an act into the logbook, and to make it durable.

As a holder does it: an entry is drafted, chained, appended to the file and made
the head. What the disk takes to make it durable comes after the echo.

And what a long book costs: until a killed holder answers again, in memory, and for
a page of it; and how much of it one key is.
"""

import contextlib
import datetime as dt
import io
import statistics
import tempfile
import time
from pathlib import Path

from bench.processes import pss
from bench.screens import Screen, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.long_book import lengthen
from tests.scenarios.support import machine

from holdfast.cli.main import main
from holdfast.core.book.entries import Admission, input_fields
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.holder.record.log_file import LogFile
from holdfast.linux.stored import places
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
    _typed(table, scale)
    _long(table, scale)


def _long(table: Table, scale: Scale) -> None:
    for count in (1000, scale.pick(100_000, 10_000), scale.pick(1_000_000, 20_000)):
        progress(f"a book of {count} entries is made")
        with machine() as here:
            session = here.new("cat")
            client = here.join(session)
            client.enter(b"x\r")
            lengthen(session, count)
            taken = []
            for number in range(5):
                progress(f"a book of {count} entries, kill {number + 1}")
                here.kill("holder", session)
                began_at = time.perf_counter()
                client.attach()
                taken.append(time.perf_counter() - began_at)
                time.sleep(0.3)
            what = f"holder killed, {count} entries, attached again"
            table.add(Row(what, max(taken) * 1e3, "ms", at_most=500))
            weight = pss(here.pid("holder", session))
            table.add(Row(f"  memory of that holder, {count} entries", weight, "MiB"))
            late = dt.datetime.fromtimestamp(1_800_000_000 + (count - 300) / 5, dt.UTC)
            for words in (
                ["--last", "30"],
                ["--since", str(count - 100)],
                ["--since", late.isoformat()],
            ):
                began_at = time.perf_counter()
                with contextlib.redirect_stdout(io.StringIO()):
                    main(["log", session, *words])
                spent = (time.perf_counter() - began_at) * 1e3
                what = f"  log {' '.join(words)[:24]} of {count} entries"
                table.add(Row(what, spent, "ms", at_most=500))


def _typed(table: Table, scale: Scale) -> None:
    """Type as a person does, and count what the book has for it."""
    keys = scale.pick(60, 20)
    with machine() as here:
        session = here.new("cat")
        with Screen(*holdfast("attach", session)) as screen:
            screen.settles(0.5)
            before = _book_of(session)
            for number in range(keys):
                progress(f"typed into a book, {number + 1} of {keys}")
                screen.types(b"x")
                time.sleep(0.15)
            time.sleep(1.5)
            added = _book_of(session)[len(before) :]
    entries = [line for line in added if b'"kind":"signed"' not in line]
    size = sum(len(line) + 1 for line in entries)
    table.add(Row("entries a key, typed", len(entries) / keys, "", at_most=1.2))
    table.add(Row("bytes of the book a key, typed", size / keys, "bytes"))


def _book_of(session: SessionId) -> list[bytes]:
    return places.session_log(session).read_bytes().splitlines()


def _key(number: int) -> Input:
    return Input(
        InputId(client_id(bytes(ENTROPY)), number + 1),
        actor_id(b"bench"),
        InputKind.KEYS,
        FIRST_INCARNATION,
        Epoch(1),
        b"x",
    )
