"""Finding a place in a long book, compared with reading it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.book import log_seek
from holdfast.core.book.log_seek import PIECE, last_index, seek_index, seek_time
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.model.ids import Epoch, Incarnation, SessionId

SESSION = SessionId("s_one")


class Book:
    """Lines in memory, and how much of them was read."""

    def __init__(self, sizes: list[int], torn: bytes = b"") -> None:
        book, self.starts, raw = Logbook(genesis(SESSION)), [], bytearray()
        for number, size in enumerate(sizes):
            fields = {"how": "x" * size}
            at = 1000 + 10 * number
            entry = book.draft(EntryKind.EXITED, fields, Incarnation(1), Epoch(1), at)
            book.commit(entry)
            self.starts.append(len(raw))
            raw += entry.line + b"\n"
        self.raw = bytes(raw) + torn
        self.read_bytes = 0

    def read(self, size: int, offset: int) -> bytes:
        found = self.raw[offset : offset + min(size, 50_000)]
        self.read_bytes += len(found)
        return found


sizes = st.lists(st.sampled_from([0, 10, 3000, 120_000]), max_size=30)


@given(sizes, st.integers(0, 31), st.sampled_from([b"", b'{"index":', b"junk"]))
def test_an_entry_is_found_where_it_begins(
    given_sizes: list[int], index: int, torn: bytes
) -> None:
    book = Book(given_sizes, torn)
    length = len(book.raw)

    found = seek_index(book.read, length, index)

    expected = [*book.starts, length][min(index, len(book.starts))]
    if torn and index >= len(given_sizes):
        expected = len(book.raw)
    assert found == expected
    assert last_index(book.read, length) == len(given_sizes) - 1


@given(sizes, st.integers(0, 40))
def test_a_moment_is_found_where_it_begins(given_sizes: list[int], step: int) -> None:
    book = Book(given_sizes)

    found = seek_time(book.read, len(book.raw), 1000 + 10 * step - 5)

    expected = [*book.starts, len(book.raw)][min(step, len(book.starts))]
    assert found == expected


def test_little_is_read_of_a_long_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_seek, "STRIDE", 1024 * 1024)
    book = Book([200] * 40_000)
    length = len(book.raw)

    assert seek_index(book.read, length, 31_111) == book.starts[31_111]
    assert book.read_bytes < 40 * PIECE
    book.read_bytes = 0
    assert seek_time(book.read, length, 1000 + 10 * 31_111) == book.starts[31_111]
    assert book.read_bytes < length // 2
    book.read_bytes = 0
    assert last_index(book.read, length) == 39_999
    assert book.read_bytes <= 2 * PIECE
    assert seek_time(book.read, length, 10**12) == length


def test_a_last_line_longer_than_a_piece_is_looked_through() -> None:
    book = Book([10], b"x" * (PIECE + 10) + b"\n")

    assert last_index(book.read, len(book.raw)) == 0
    assert seek_index(book.read, len(book.raw), 1) == len(book.raw) - PIECE - 11


def test_a_book_that_became_shorter_while_it_was_looked_at_has_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_seek, "STRIDE", 100)
    book = Book([10, 10, 10])

    assert seek_time(book.read, len(book.raw) + 1000, 10**12) == len(book.raw) + 1000
    assert seek_index(book.read, len(book.raw) + 3 * PIECE, 2) == book.starts[2]
