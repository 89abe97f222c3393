"""Does a logbook hold together, and who vouches for its end?"""

import json

from holdfast.cli.log_tail import LogTail, newest_head
from holdfast.core.logbook import Head
from holdfast.model.errors import (
    HoldfastError,
    LogbookWithheld,
    LogTampered,
    PeerError,
)
from holdfast.model.text import printable

EXIT_CHANGED = 65
"""The book does not verify; the number is that of sysexits(3) for bad data."""


def verify(tail: LogTail, *, as_json: bool) -> int:
    """Print whether a book holds together; return the exit status."""
    found: HoldfastError | None = None
    vouched: Head | None = None
    host = ""
    hashes: list[bytes] = []
    try:
        while fresh := tail.read():
            hashes += [entry.hash for entry in fresh]
        signed = newest_head(tail.session)
        if signed is not None:
            vouched, host = signed.receipt.head, signed.host.hex()
            _check(vouched, hashes)
    except (PeerError, LogbookWithheld) as error:
        found = error
    _report(tail, found, vouched, host, as_json=as_json)
    return 0 if found is None else EXIT_CHANGED


def _check(vouched: Head, hashes: list[bytes]) -> None:
    if vouched.index >= len(hashes):
        raise LogbookWithheld(vouched.index)
    if vouched.index >= 0 and hashes[vouched.index] != vouched.hash:
        raise LogTampered(vouched.index, "the host signed another entry")


def _report(
    tail: LogTail,
    found: HoldfastError | None,
    vouched: Head | None,
    host: str,
    *,
    as_json: bool,
) -> None:
    head = tail.head
    if as_json:
        facts = {
            "session": tail.session,
            "holds": found is None,
            "count": head.index + 1,
            "head": head.hash.hex(),
            "torn": tail.torn,
            "signed": None if vouched is None else vouched.index,
            "host": host or None,
            "error": None
            if found is None
            else {"code": found.code, "text": str(found), "facts": found.facts},
        }
        print(json.dumps(facts))
        return
    print(f"{tail.session}: {head.index + 1} entries hold together")
    print(f"head {head.index} {head.hash.hex()}")
    if found is not None:
        print(f"does not verify: {printable(str(found))}")
    elif vouched is not None:
        print(f"the host {host} vouches for all up to entry {vouched.index}")
    else:
        print("no host vouches for the end: a tail cut off would not show")
    if tail.torn and found is None:
        print(f"{tail.torn} bytes of an unfinished entry follow")
