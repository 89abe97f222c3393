"""How long `holdfast score` takes over the logbooks of a host."""

import contextlib
import io
import os
import tempfile
import time
from pathlib import Path

from bench.table import Row, Scale, Table, progress
from tests.core.autonomy.written_book import acts, write_book

from holdfast.cli.main import main
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

BOT = "a_" + "b" * 32
BOOKS = 10
EACH = 6
"""Entries of one act."""

MOST = 2.0
"""Seconds for 100,000 entries."""


def measure(table: Table, scale: Scale) -> None:
    """Add the row about scores."""
    entries = scale.pick(100_000, 10_000)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOLDFAST_STATE_DIR"] = folder
        try:
            for number in range(BOOKS):
                progress(f"scores, book {number + 1} of {BOOKS}")
                session = SessionId(f"s_{'a' * 15}{'bcdefghijk'[number]}")
                told = acts(BOT, entries // BOOKS // EACH)
                write_book(Path(places.log_dir()), session, told)
            began_at = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                main(["score", "--json"])
            took = time.perf_counter() - began_at
        finally:
            del os.environ["HOLDFAST_STATE_DIR"]
    most = MOST * entries / 100_000
    table.add(Row(f"`score` over {entries:,} entries", took, "s", at_most=most))
