"""A store that takes nothing from a life of a session that is over.

    fenced_ledger.py DATABASE TOKEN AMOUNT

A session that was moved, restored or recovered has a next incarnation. The old one may
still run somewhere, cut off and sure of itself; a store outside has to refuse it. Each
write brings the session's token (`holdfast token NAME`, or /run/holdfast/branch inside
a capsule). The store checks who signed it, and in the same transaction as the write
raises the highest incarnation that it has seen: compare and set. In PostgreSQL the two
statements are the same.
"""

import json
import sqlite3
import subprocess
import sys

SCHEMA = """
CREATE TABLE IF NOT EXISTS fence (session TEXT PRIMARY KEY, incarnation INT NOT NULL);
CREATE TABLE IF NOT EXISTS entry (session TEXT, incarnation INT, amount INT);
"""

RAISE = """
INSERT INTO fence VALUES (:session, :incarnation)
ON CONFLICT (session) DO UPDATE SET incarnation = excluded.incarnation
WHERE fence.incarnation <= excluded.incarnation
"""


class StaleError(Exception):
    """A later life of the session has written already."""


def checked(token: str) -> dict[str, str | int]:
    """Return what a token says, if it is genuine and has not run out."""
    asked = ["holdfast", "token", "--check", "--json", token]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603  # a fixed program
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, str | int] = json.loads(done.stdout)
    return found


def add(database: sqlite3.Connection, token: str, amount: int) -> None:
    """Write an entry, unless a later life of the session has written one.

    Raises:
        StaleError: One has.

    """
    facts = checked(token)
    with database:  # One transaction: both or nothing.
        if database.execute(RAISE, facts).rowcount == 0:
            raise StaleError(f"incarnation {facts['incarnation']} is over")
        written = {**facts, "amount": amount}
        database.execute(
            "INSERT INTO entry VALUES (:session, :incarnation, :amount)", written
        )


def main() -> None:
    """Add one entry, and print the sum."""
    path, token, amount = sys.argv[1:]
    database = sqlite3.connect(path, timeout=10)
    database.executescript(SCHEMA)
    try:
        add(database, token, int(amount))
    except StaleError as error:
        sys.exit(f"refused: {error}")
    print(*database.execute("SELECT sum(amount) FROM entry").fetchone())


if __name__ == "__main__":
    main()
