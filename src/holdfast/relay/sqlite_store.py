"""The records of leases in an SQLite file.

A write-ahead log with `synchronous=FULL` is on the disk when a statement
returns. Each write is one statement, so nothing is ever half written. The file
is locked for as long as it is open: two relays with one store would each believe
they are the only one that grants (spec/leases.md, section 1.3).
"""

import os
import sqlite3
from pathlib import Path

from holdfast.core.relay.lease_registry import Record
from holdfast.model.errors import PlaceNotOurs, StoreFailed
from holdfast.model.ids import HostId, Incarnation, SessionId
from holdfast.ports.lease_store import Kept

LAYOUT = 1
"""The version of the tables, kept in the file's user_version."""

_TABLES = """
CREATE TABLE IF NOT EXISTS leases (
    session TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    incarnation INTEGER NOT NULL,
    ttl REAL NOT NULL,
    is_invalidated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS heirs (
    session TEXT PRIMARY KEY,
    hosts TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_UNWRITTEN = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_TOOBIG,
    }
)
"""Errors after which SQLite has taken the statement back, and says so."""

_PRIMARY = 0xFF
"""The part of an extended error code that says what kind of error it is."""


class SqliteLeaseStore:
    """Leases in one file, which nobody else has open."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it, readable by its owner alone.

        Raises:
            UsageError: It cannot be opened, is no such store, or is in use.

        """
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
            self._file = sqlite3.connect(
                path, isolation_level=None, timeout=0, check_same_thread=False
            )
            self._prepare(path)
        except (OSError, sqlite3.Error) as error:
            raise PlaceNotOurs(str(path), str(error)) from error

    def _prepare(self, path: Path) -> None:
        self._file.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=FULL")
        (layout,) = self._file.execute("PRAGMA user_version").fetchone()
        if layout not in (0, LAYOUT):
            raise PlaceNotOurs(str(path), f"its layout is {layout}, not {LAYOUT}")
        self._file.executescript(_TABLES)
        self._file.execute(f"PRAGMA user_version={LAYOUT}")

    def load(self) -> Kept:
        """Return everything that was written."""
        records = self._file.execute(
            "SELECT session, host, incarnation, ttl, is_invalidated FROM leases"
        )
        heirs = self._file.execute("SELECT session, hosts FROM heirs")
        return Kept(
            tuple(
                Record(
                    SessionId(session),
                    HostId(host),
                    Incarnation(incarnation),
                    ttl,
                    bool(invalidated),
                )
                for session, host, incarnation, ttl, invalidated in records
            ),
            {
                SessionId(session): frozenset(map(HostId, hosts.split()))
                for session, hosts in heirs
            },
        )

    def put(self, record: Record) -> None:
        """Write `record` in place of the session's former one.

        Raises:
            Unavailable: It is known not to have been written.

        """
        self._write(
            record.session,
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)",
            record.session,
            record.host,
            record.incarnation,
            record.ttl,
            int(record.is_invalidated),
        )

    def entrust(self, session: SessionId, hosts: frozenset[HostId]) -> None:
        """Write to whom a session is entrusted.

        Raises:
            Unavailable: It is known not to have been written.

        """
        self._write(
            session,
            "INSERT OR REPLACE INTO heirs VALUES (?, ?)",
            session,
            " ".join(sorted(hosts)),
        )

    def forget(self, session: SessionId) -> None:
        """Delete everything about a session.

        Raises:
            Unavailable: It is known not to have been deleted.

        """
        # The heirs last: without a lease they are of no consequence.
        self._write(session, "DELETE FROM leases WHERE session = ?", session)
        self._write(session, "DELETE FROM heirs WHERE session = ?", session)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _write(self, session: SessionId, statement: str, *values: str | float) -> None:
        try:
            self._file.execute(statement, values)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & _PRIMARY in _UNWRITTEN:
                raise StoreFailed(session) from error
            raise
