"""The host's signatures over a book: when they are made, of what, and where kept."""

import hashlib
import math
import stat
import time
from pathlib import Path

import pytest

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.book.signed_head import SignedHead
from holdfast.holder.record.log_file import LogFile
from holdfast.holder.record.receipts import INTERVAL, MAX_OPEN, Receipts
from holdfast.holder.timers import Timers
from holdfast.linux.stored import places
from holdfast.model.ids import FIRST_INCARNATION, Epoch, Index, SessionId
from holdfast.model.inputs import InputKind

SESSION = SessionId("s_" + "a" * 16)


@pytest.fixture
def timers() -> Timers:
    return Timers()


@pytest.fixture
def receipts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timers: Timers
) -> Receipts:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    places.session_head(SESSION).parent.mkdir(parents=True, exist_ok=True)
    return Receipts(
        SESSION, FIRST_INCARNATION, LogFile(tmp_path / "log", SESSION), timers
    )


def entry(number: int, kind: InputKind | None = InputKind.KEYS) -> Entry:
    """Return an input's entry; one of something else if it is of no kind."""
    line = b"%d" % number
    return Entry(
        Index(number),
        line,
        hashlib.sha256(line).digest(),
        EntryKind.OPENED if kind is None else EntryKind.INPUT,
        FIRST_INCARNATION,
        Epoch(1),
        0,
        {} if kind is None else {"input": kind.value},
    )


def newest() -> SignedHead:
    found = SignedHead.from_line(places.session_head(SESSION).read_bytes().strip())
    assert found.is_genuine()
    return found


def test_what_was_written_is_vouched_for_a_second_later(
    receipts: Receipts, timers: Timers
) -> None:
    before = time.monotonic()
    receipts.stored(entry(1, None))
    due = timers.first
    receipts.stored(entry(2, None))

    assert before + INTERVAL <= due <= time.monotonic() + INTERVAL
    assert timers.first == due  # A book that grows is not put off for ever.
    assert not places.session_head(SESSION).exists()
    timers.tick(due)
    assert newest().receipt.head.session == SESSION
    assert newest().receipt.head.index == 2
    assert newest().receipt.head.hash == entry(2).hash
    assert stat.S_IMODE(places.session_head(SESSION).stat().st_mode) == 0o600
    assert timers.first == math.inf
    receipts.stored(entry(3, None))
    assert timers.first < math.inf


def test_of_keys_there_is_one_receipt_a_second(receipts: Receipts) -> None:
    for number in (1, 2):
        receipts.stored(entry(number))

    told = receipts.receipt(Index(1))
    assert told is not None
    assert told.head == entry(1).hash
    assert told.signature == newest().receipt.signature
    assert newest().receipt.head.index == 1
    assert receipts.receipt(Index(2)) is None


def test_of_a_command_there_is_always_a_receipt_and_one_only(
    receipts: Receipts,
) -> None:
    for number in (1, 2):
        receipts.stored(entry(number, InputKind.COMMAND))

    told = [receipts.receipt(Index(number)) for number in (1, 2, 1, 3)]

    heads = [None if one is None else one.head for one in told]
    assert heads == [entry(1).hash, entry(2).hash, None, None]
    assert newest().receipt.head.index == 2


def test_what_is_no_input_has_no_receipt(receipts: Receipts) -> None:
    receipts.stored(entry(1, None))

    assert receipts.receipt(Index(1)) is None


def test_so_many_entries_are_remembered_and_no_more(receipts: Receipts) -> None:
    for number in range(MAX_OPEN + 1):
        receipts.stored(entry(number, InputKind.COMMAND))

    assert receipts.receipt(Index(0)) is None
    assert receipts.receipt(Index(1)) is not None
    assert receipts.receipt(Index(MAX_OPEN)) is not None


def test_without_a_place_for_it_nothing_is_vouched_for_and_nothing_fails(
    receipts: Receipts, timers: Timers
) -> None:
    places.session_head(SESSION).mkdir()
    receipts.stored(entry(1, InputKind.COMMAND))
    timers.tick(math.inf)

    assert receipts.receipt(Index(1)) is None
    places.session_head(SESSION).rmdir()
    receipts.stored(entry(2, InputKind.COMMAND))
    assert receipts.receipt(Index(2)) is not None
