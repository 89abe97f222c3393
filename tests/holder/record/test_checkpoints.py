"""Checkpoints of a real file: made, torn, lost, replaced; and parts."""

from pathlib import Path

import pytest

from holdfast.core.book.checkpoint import read_checkpoint
from holdfast.core.book.logbook import EntryKind, Logbook
from holdfast.holder.record.book_recovery import Past, state_path
from holdfast.holder.record.checkpoints import (
    EVERY,
    EVERY_BYTES,
    OVERDUE,
    WORTH,
    Checkpoints,
)
from holdfast.holder.record.log_file import LogFile
from holdfast.model.errors import LogTampered
from holdfast.model.ids import Epoch, Incarnation, SessionId
from holdfast.wire.lines import Value

SESSION = SessionId("s_one")
PART = 4096


class Book:
    """A book on a disk, as a holder writes it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s_one.log"
        self.begin()

    def begin(self) -> None:
        self.file = LogFile(self.path, SESSION, PART)
        self.past: Past = self.file.recover()
        self.chain = Logbook(self.past.head)
        self.checkpoints = Checkpoints(str(self.path), SESSION, self.past)

    def write(self, kind: EntryKind, **fields: Value) -> None:
        entry = self.chain.draft(kind, fields, Incarnation(1), Epoch(1), 0)
        self.file.append(entry.line)
        self.chain.commit(entry)
        self.checkpoints.stored(len(entry.line))

    def grant(self, number: int) -> None:
        rights: dict[str, Value] = {"rights": "input", "scope": None, "expires": None}
        self.write(EntryKind.GRANTED, actor=f"a_{number}", by="", **rights)

    def mark(self) -> None:
        made = self.checkpoints.make(self.file, None, ())
        assert made is not None
        self.write(EntryKind.CHECKPOINT, **made)

    def state(self, slot: int) -> Path:
        return Path(state_path(str(self.path), slot))

    def known(self) -> set[str]:
        """Return whom a successor knows."""
        self.begin()
        before = self.past.checkpoint
        told = () if before is None else before.standing.envelopes
        fresh = (str(one.fields["actor"]) for one in self.past.fresh if _grants(one))
        return {*(actor for actor, _ in told), *fresh}


def _grants(entry: object) -> bool:
    return getattr(entry, "kind", None) is EntryKind.GRANTED


@pytest.fixture
def book(tmp_path: Path) -> Book:
    made = Book(tmp_path)
    for number in range(30):
        made.grant(number)
        if number in (10, 20):
            made.mark()
    return made


ALL = {f"a_{number}" for number in range(30)}


def test_a_successor_reads_from_the_newest_on(book: Book) -> None:
    assert book.known() == ALL
    assert book.past.checkpoint is not None
    assert book.past.checkpoint.through == 21
    assert len(book.past.fresh) == 10


def test_the_book_is_in_parts_with_one_chain(book: Book) -> None:
    parts = sorted(book.path.parent.glob("s_one.log*"))

    assert len(parts) > 1
    book.grant(30)
    assert book.known() == {*ALL, "a_30"}
    assert book.past.head.index == 32


@pytest.mark.parametrize("harm", ["lost", "torn", "of another book"])
def test_the_one_before_counts_when_the_newest_does_not(book: Book, harm: str) -> None:
    newest = max((book.state(0), book.state(1)), key=_through)
    raw = newest.read_bytes()
    if harm == "lost":
        newest.unlink()
    elif harm == "torn":
        newest.write_bytes(raw[: len(raw) // 2])
    else:
        newest.write_bytes(raw.replace(b"a_3", b"a_x"))

    assert book.known() == ALL
    assert book.past.checkpoint is not None
    assert book.past.checkpoint.through == 10


def _through(path: Path) -> int:
    return read_checkpoint(path.read_bytes(), SESSION).through


def test_without_any_the_book_is_read_whole(book: Book) -> None:
    for slot in (0, 1):
        book.state(slot).unlink()

    assert book.known() == ALL
    assert book.past.checkpoint is None
    assert len(book.past.entries) == 32


def test_one_that_was_written_and_is_not_in_the_book_counts_for_nothing(
    book: Book,
) -> None:
    assert book.checkpoints.make(book.file, None, ()) is not None  # And killed here.

    assert book.known() == ALL
    assert book.past.checkpoint is not None
    assert book.past.checkpoint.through == 21


def test_a_full_disk_leaves_the_one_before(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.write", lambda _, raw: len(raw) // 2)

    assert book.checkpoints.make(book.file, None, ()) is None
    monkeypatch.undo()
    assert book.known() == ALL
    assert book.past.checkpoint is not None
    assert not list(book.path.parent.glob("*.new"))


def test_a_torn_line_is_cut_off_in_the_last_part(book: Book) -> None:
    last = max(book.path.parent.glob("s_one.log*"), key=lambda one: len(one.name))
    with last.open("ab") as file:
        file.write(b'{"index":32,"prev"')

    assert book.known() == ALL
    book.grant(31)
    assert book.known() == {*ALL, "a_31"}


def test_an_empty_last_part_is_gone_on_with(book: Book) -> None:
    count = len(list(book.path.parent.glob("s_one.log*")))
    Path(f"{book.path}.{count}").touch()

    assert book.known() == ALL
    book.grant(31)
    assert Path(f"{book.path}.{count}").stat().st_size > 0
    assert book.known() == {*ALL, "a_31"}


def test_what_was_changed_since_the_checkpoint_is_refused(book: Book) -> None:
    last = max(book.path.parent.glob("s_one.log*"), key=lambda one: len(one.name))
    last.write_bytes(last.read_bytes().replace(b"a_27", b"a_28"))

    with pytest.raises(LogTampered):
        book.begin()


def test_one_is_due_after_so_many_entries_or_bytes(book: Book) -> None:
    book.begin()
    due = book.checkpoints.is_due

    assert not due(is_idle=True)
    assert not book.checkpoints.is_full
    for _ in range(EVERY):
        book.checkpoints.stored(1)
    assert due(is_idle=True)
    assert not due(is_idle=False)
    assert book.checkpoints.is_full
    book.checkpoints.stored(EVERY_BYTES * OVERDUE)
    assert due(is_idle=False)


def test_a_book_that_was_read_whole_gets_one_soon(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.holder.record.book_recovery.REPLAYED", 5)
    for slot in (0, 1):
        book.state(slot).unlink()

    assert book.known() == ALL
    assert book.past.checkpoint is not None
    assert book.past.checkpoint.through == 26
    assert book.checkpoints.is_due(is_idle=True)
    book.mark()
    assert book.known() == ALL
    assert book.past.checkpoint.through == 31


def test_a_successor_writes_over_the_older_of_two(tmp_path: Path) -> None:
    book = Book(tmp_path)
    for number in range(3):
        book.grant(number)
        book.mark()
    newest = max((0, 1), key=lambda slot: _through(book.state(slot)))
    kept = book.state(newest).read_bytes()
    assert _through(book.state(0)) != _through(book.state(1))

    book.begin()
    book.grant(9)
    book.mark()

    assert book.state(newest).read_bytes() == kept
    assert _through(book.state(1 - newest)) > _through(book.state(newest))
    book.state(newest).write_bytes(b"torn")
    book.begin()
    book.grant(10)
    book.mark()
    assert _through(book.state(newest)) > _through(book.state(1 - newest))


# ── when the next one is due ──────────────────────────────────────────────────


@pytest.mark.parametrize(("size", "count"), [(0, EVERY), (EVERY_BYTES // 8, 8)])
def test_the_last_entry_of_so_many_and_no_earlier_makes_one_due(
    tmp_path: Path, size: int, count: int
) -> None:
    fresh = Book(tmp_path).checkpoints

    told = [fresh.stored(size) for _ in range(count)]

    assert told == [False] * (count - 1) + [True]
    assert fresh.is_due(is_idle=True)
    assert not fresh.is_due(is_idle=False)
    for _ in range(count * (OVERDUE - 1)):
        fresh.stored(size)
    assert fresh.is_due(is_idle=False)


def test_once_one_is_made_the_next_is_far(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.grant(0)
    assert book.checkpoints.stored(EVERY_BYTES * OVERDUE)

    assert book.checkpoints.make(book.file, None, ()) is not None

    assert not book.checkpoints.is_full
    assert not book.checkpoints.is_due(is_idle=True)


def test_a_successor_in_a_hurry_gets_one_if_that_spares_it_much(tmp_path: Path) -> None:
    fresh = Book(tmp_path).checkpoints
    for _ in range(WORTH - 1):
        fresh.stored(1)
    fresh.hurry()
    assert not fresh.is_full
    assert not fresh.is_due(is_idle=True)

    fresh.stored(1)
    fresh.hurry()

    assert fresh.is_full
    assert fresh.is_due(is_idle=True)
    assert not fresh.is_due(is_idle=False)


def test_a_hurry_does_not_put_off_one_that_is_overdue(tmp_path: Path) -> None:
    fresh = Book(tmp_path).checkpoints
    for _ in range(EVERY * OVERDUE):
        fresh.stored(1)

    fresh.hurry()

    assert fresh.is_due(is_idle=False)


def test_a_short_book_whose_checkpoints_are_torn_gets_no_hasty_one(book: Book) -> None:
    for slot in (0, 1):
        book.state(slot).write_bytes(b"torn")

    assert book.known() == ALL

    assert not book.checkpoints.is_full
