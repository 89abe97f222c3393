import pytest

from holdfast.core.book.host_book import (
    book_of,
    draft,
    is_sealed,
    policy_after,
    read_last,
    seal_key,
)
from holdfast.core.book.logbook import Entry, EntryKind, can_be_read, verify
from holdfast.model.errors import LogTampered
from holdfast.model.ids import host_id
from holdfast.wire.lines import decode_line, encode_line

KEY = seal_key(bytes(32))
BOOK = book_of(host_id(bytes(32)))


def entries() -> list[Entry]:
    opened = draft(None, BOOK, EntryKind.OPENED, {}, 1, KEY)
    fields = {"by": "a_b", "policy": "d1"}
    applied = draft(opened, BOOK, EntryKind.APPLIED, fields, 2, KEY)
    joined = draft(applied, BOOK, EntryKind.JOINED, {"actor": "a_c"}, 3, KEY)
    return [opened, applied, joined]


def test_the_lines_are_those_of_any_logbook() -> None:
    lines = [entry.line for entry in entries()]

    assert verify(lines, BOOK).count == 3


def test_every_line_says_which_policy_holds_after_it() -> None:
    assert [policy_after(entry) for entry in entries()] == ["", "d1", "d1"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_last_line_stands_for_all_before_it(number: int) -> None:
    entry = entries()[number]

    found = read_last(entry.line, KEY)

    assert (found.index, found.hash, found.kind) == (number, entry.hash, entry.kind)
    assert policy_after(found) == policy_after(entry)


def test_a_line_that_was_changed_or_made_under_another_key_is_refused() -> None:
    line = entries()[1].line
    changed = line.replace(b'"d1"', b'"d2"')

    for one, key in ((changed, KEY), (line, seal_key(bytes(31) + b"x"))):
        assert not is_sealed(one, key)
        with pytest.raises(LogTampered, match="not this host's"):
            read_last(one, key)


@pytest.mark.parametrize("seal", [None, 3, "", "ü", "00"])
def test_a_line_without_a_seal_is_not_ours(seal: str | int | None) -> None:
    record = decode_line(entries()[1].line)
    del record["seal"]
    if seal is not None:
        record["seal"] = seal

    assert not is_sealed(encode_line(record), KEY)
    assert not is_sealed(b"{}", KEY)


def test_only_a_whole_line_can_be_read() -> None:
    line = entries()[0].line

    assert can_be_read(line)
    assert not can_be_read(line[:-1])
