import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.relay.lease_registry import Record
from holdfast.model.errors import PlaceNotOurs, StoreFailed
from holdfast.model.ids import HostId, Incarnation, SessionId
from holdfast.ports.lease_store import Kept
from holdfast.relay.sqlite_store import SqliteLeaseStore

RECORD = Record(SessionId("s_one"), HostId("h_a"), Incarnation(1), 20.0)


def opened(path: Path) -> SqliteLeaseStore:
    return SqliteLeaseStore(path / "store")


def kept(path: Path) -> Kept:
    store = opened(path)
    try:
        return store.load()
    finally:
        store.close()


def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from holdfast.core.relay.lease_registry import Record
from holdfast.relay.sqlite_store import SqliteLeaseStore
store = SqliteLeaseStore(Path(sys.argv[1]))
store.put(Record("s_one", "h_a", 1, 20.0))
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store")], check=False
    )

    assert done.returncode == -9
    assert kept(tmp_path).records == (RECORD,)


def test_a_store_in_use_is_not_opened_a_second_time(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put(RECORD)

    with pytest.raises(PlaceNotOurs, match="locked"):
        opened(tmp_path)
    store.close()


def test_a_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put(RECORD)

    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    store.close()


def test_what_is_no_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(PlaceNotOurs):
        opened(tmp_path)
    assert path.read_bytes() == b"not a database" * 100

    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PlaceNotOurs):
        opened(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_store_of_another_layout_is_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "store")
    other.execute("PRAGMA user_version=7")
    other.close()

    with pytest.raises(PlaceNotOurs, match="layout"):
        opened(tmp_path)


def test_f12_a_full_disk_is_a_known_failure_and_what_was_there_stays(
    tmp_path: Path,
) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from holdfast.core.relay.lease_registry import Record
from holdfast.model.errors import StoreFailed
from holdfast.relay.sqlite_store import SqliteLeaseStore
store = SqliteLeaseStore(Path(sys.argv[1]))
store.put(Record("s_one", "h_a", 1, 20.0))
store._file.execute("PRAGMA max_page_count=1")
failed = 0
for number in range(2000):
    try:
        store.put(Record(f"s_{number}", "h_a", 1, 20.0))
    except StoreFailed:
        failed += 1
print(failed)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert int(done.stdout) > 0
    assert RECORD in kept(tmp_path).records
    assert len(kept(tmp_path).records) == 2001 - int(done.stdout)


def test_a_write_whose_outcome_nobody_knows_is_no_known_failure(tmp_path: Path) -> None:
    store = SqliteLeaseStore(tmp_path / "store")
    store.close()

    with pytest.raises(sqlite3.ProgrammingError):
        store.put(RECORD)
    assert not issubclass(sqlite3.ProgrammingError, StoreFailed)


def test_a_file_that_cannot_grow_is_told_apart_from_a_full_disk(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from holdfast.core.relay.lease_registry import Record
from holdfast.model.errors import StoreFailed
from holdfast.relay.sqlite_store import SqliteLeaseStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteLeaseStore(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
try:
    for number in range(2000):
        store.put(Record(f"s_{number}", "h_a", 1, 20.0))
except Exception as error:
    print(type(error).__name__, number)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=True,
    )

    name, count = done.stdout.split()
    assert name in ("StoreFailed", "OperationalError")
    assert len(kept(tmp_path).records) >= int(count)
