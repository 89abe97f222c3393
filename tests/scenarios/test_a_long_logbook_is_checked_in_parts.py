"""Verifying and exporting a book takes little memory, however long it is."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.long_book import lengthen
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

COUNT = 120_000
"""Entries; what was kept of each before was more than 2 KiB."""

MOST = 80 * 1024
"""KiB that a program may need at its highest, the interpreter included."""

TOOL = Path(__file__).parents[2] / "tools" / "verify_logbook.py"

MEASURED = """
import sys
from pathlib import Path
from holdfast.cli.main import main
status = main(sys.argv[1:])
told = Path("/proc/self/status").read_text()
print(told.partition("VmHWM:")[2].split()[0], file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture(name="here", scope="module")
def a_machine() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture(name="book", scope="module")
def a_long_book(here: Machine) -> tuple[SessionId, int]:
    session = here.new("cat")
    client = here.join(session)
    client.enter(b"x\r")
    eventually("it rests", lambda: here.is_whole(session))
    return session, lengthen(session, COUNT)


def measured(*words: str) -> tuple[str, int]:
    """Return what a verb prints, and the most KiB it had."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words],
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, int(done.stderr.split()[-1])


def test_a_long_book_is_verified_within_bounds(book: tuple[SessionId, int]) -> None:
    session, count = book

    said, most = measured("log", session, "--verify", "--json")

    facts = json.loads(said)
    assert (facts["holds"], facts["count"]) == (True, count)
    assert facts["inputs_unsigned"] >= COUNT
    assert most < MOST


def test_a_long_book_is_exported_within_bounds(
    book: tuple[SessionId, int], tmp_path: Path
) -> None:
    session, count = book
    place = tmp_path / "export"

    _, most = measured("log", session, "--export", str(place))

    assert most < MOST
    with place.open("rb") as file:
        first = json.loads(file.readline())
        assert first["count"] == count
        assert sum(1 for line in file if b'"index":' in line) == count
    words = [sys.executable, str(TOOL), str(place)]
    told = subprocess.run(words, capture_output=True, check=False, text=True)
    assert told.returncode == 0, told.stdout + told.stderr


def test_one_entry_changed_in_the_middle_is_found(
    book: tuple[SessionId, int],
) -> None:
    session, count = book
    parts = sorted(places.log_dir().glob(f"{session}.log*"))
    part = max(parts, key=lambda one: one.stat().st_size)
    raw = part.read_bytes()
    at = raw.index(b'"sequence":', len(raw) // 2)
    try:
        with part.open("r+b") as file:
            file.seek(at + len(b'"sequence":'))
            file.write(b"9")
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "log", session, "--verify"],
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
        )
    finally:
        part.write_bytes(raw)
    assert done.returncode == 65
    assert "does not verify" in done.stdout
    assert count > COUNT
