import hashlib
import hmac

import pytest

from holdfast.core.book.logbook import (
    MAX_LINE,
    Anchor,
    Entry,
    EntryKind,
    Head,
    Logbook,
    Receipt,
    Verified,
    anchor_of,
    genesis,
    read_entries,
    recover,
    verify,
)
from holdfast.model.errors import LogbookWithheld, LogTampered
from holdfast.model.ids import FIRST_INCARNATION, Epoch, Incarnation, SessionId
from holdfast.wire.lines import Record, decode_line, encode_line

SESSION, OTHER_SESSION = SessionId("s_one"), SessionId("s_other")


def written_book(count: int, *, epoch: int = 1) -> tuple[Logbook, list[bytes]]:
    book = Logbook(genesis(SESSION))
    lines: list[bytes] = []
    for number in range(count):
        entry = drafted(book, number, epoch=epoch)
        book.commit(entry)
        lines.append(entry.line)
    return book, lines


def drafted(book: Logbook, number: int, *, epoch: int = 1) -> Entry:
    return book.draft(
        EntryKind.ATTACHED,
        {"actor": f"a_{number}"},
        Incarnation(1),
        Epoch(epoch),
        at_wall_ms=1000 + number,
    )


def signed(head: Head, key: bytes = b"host") -> Receipt:
    statement = head.signed_bytes(FIRST_INCARNATION)
    return Receipt(head, FIRST_INCARNATION, hmac.digest(key, statement, "sha256"))


def is_signed_by_host(message: bytes, signature: bytes) -> bool:
    return hmac.digest(b"host", message, "sha256") == signature


def rewritten(line: bytes, **changes: str | int | bool | None) -> bytes:
    record: Record = {**decode_line(line), **changes}
    return encode_line(record)


def test_an_entry_says_what_it_was_drafted_with() -> None:
    _, lines = written_book(2)

    assert decode_line(lines[1]) == {
        "index": 1,
        "prev": hashlib.sha256(lines[0]).hexdigest(),
        "session": SESSION,
        "incarnation": 1,
        "epoch": 1,
        "at": 1001,
        "kind": "attached",
        "actor": "a_1",
    }


def test_entries_are_the_same_if_they_say_the_same_and_nothing_else_is() -> None:
    drafted = [
        Logbook(genesis(SESSION)).draft(
            EntryKind.OPENED, {}, Incarnation(1), Epoch(0), at
        )
        for at in (1, 1, 2)
    ]
    known = drafted[0].hash

    assert drafted[0] == drafted[1]
    assert not drafted[0] != drafted[1]  # noqa: SIM202  # another method
    assert hash(drafted[0]) == hash(drafted[1])
    assert drafted[0] != drafted[2]
    assert drafted[0] != known == hashlib.sha256(drafted[0].line).digest()


def test_a_book_begins_from_the_sessions_own_genesis() -> None:
    book = Logbook(genesis(SESSION))

    assert book.head == genesis(SESSION)
    assert book.head.index == -1
    assert genesis(SESSION).hash != genesis(OTHER_SESSION).hash


def test_a_draft_that_was_not_stored_leaves_no_hole() -> None:
    book, lines = written_book(1)
    drafted(book, 7)
    entry = drafted(book, 8)
    book.commit(entry)

    assert verify([*lines, entry.line], SESSION) == Verified(2, book.head)


def test_entries_are_committed_in_order() -> None:
    book, _ = written_book(1)
    entry = drafted(book, 1)
    book.commit(entry)

    with pytest.raises(AssertionError):
        book.commit(entry)


def test_what_was_written_is_read_with_all_its_fields() -> None:
    book, lines = written_book(3)

    *_, last = read_entries(lines, SESSION)

    assert (last.index, last.hash) == (2, book.head.hash)
    assert (last.kind, last.incarnation, last.epoch) == (EntryKind.ATTACHED, 1, 1)
    assert (last.at_wall_ms, last.fields["actor"]) == (1002, "a_2")
    assert last.line == lines[2]


def test_an_empty_book_verifies() -> None:
    assert verify([], SESSION) == Verified(0, genesis(SESSION))


def test_another_sessions_book_does_not_verify() -> None:
    _, lines = written_book(1)

    with pytest.raises(LogTampered, match="another session"):
        verify(lines, OTHER_SESSION)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_book_that_goes_on_honours_an_earlier_receipt(count: int) -> None:
    book, lines = written_book(count)
    receipt = signed(book.head)
    entry = drafted(book, 9)
    book.commit(entry)

    verified = verify([*lines, entry.line], SESSION, [receipt], is_signed_by_host)

    assert verified.count == count + 1


def test_i3_a_tail_cut_contradicts_the_receipt() -> None:
    book, lines = written_book(3)

    with pytest.raises(LogbookWithheld) as caught:
        verify(lines[:2], SESSION, [signed(book.head)], is_signed_by_host)
    assert caught.value.facts == {"index": 2}


def test_i3_a_lost_file_contradicts_the_receipt() -> None:
    book, _ = written_book(3)

    with pytest.raises(LogbookWithheld):
        verify([], SESSION, [signed(book.head)], is_signed_by_host)


def test_i3_a_suffix_written_anew_contradicts_the_receipt() -> None:
    book, lines = written_book(3)
    forged, _ = written_book(2)
    forged.commit(entry := drafted(forged, 99))

    assert verify([*lines[:2], entry.line], SESSION).count == 3
    with pytest.raises(LogbookWithheld):
        verify(
            [*lines[:2], entry.line], SESSION, [signed(book.head)], is_signed_by_host
        )


def test_i3_a_receipt_for_another_life_of_the_same_entry_is_not_honoured() -> None:
    book, lines = written_book(2)
    life = Incarnation(2)
    statement = book.head.signed_bytes(life)
    receipt = Receipt(book.head, life, hmac.digest(b"host", statement, "sha256"))

    with pytest.raises(LogbookWithheld):
        verify(lines, SESSION, [receipt], is_signed_by_host)


def test_reading_goes_on_after_an_entry_as_if_it_had_never_stopped() -> None:
    _, lines = written_book(4)
    whole = list(read_entries(lines, SESSION))

    assert list(read_entries(lines[2:], SESSION, whole[1])) == whole[2:]
    with pytest.raises(LogTampered):
        list(read_entries(lines[3:], SESSION, whole[1]))


def test_reading_on_still_sees_an_epoch_that_goes_down() -> None:
    book, _ = written_book(1)
    high = drafted(book, 1, epoch=5)
    book.commit(high)
    low = drafted(book, 2, epoch=4)

    with pytest.raises(LogTampered, match="goes down"):
        list(read_entries([low.line], SESSION, high))


@pytest.mark.parametrize("turned", [False, True])
def test_i3_two_heads_for_one_index_cannot_both_be_honoured(*, turned: bool) -> None:
    book, lines = written_book(2)
    other = Head(SESSION, book.head.index, b"\0" * 32)
    receipts = [signed(book.head), signed(other)]

    with pytest.raises(LogbookWithheld):
        verify(
            lines,
            SESSION,
            reversed(receipts) if turned else receipts,
            is_signed_by_host,
        )


def test_i3_another_genesis_contradicts_the_first_receipt_of_all() -> None:
    _, lines = written_book(2)
    other = Head(SESSION, -1, b"\0" * 32)

    with pytest.raises(LogbookWithheld):
        verify(lines, SESSION, [signed(other)], is_signed_by_host)


def test_i4_a_receipt_of_another_session_is_refused() -> None:
    _, lines = written_book(1)
    receipt = signed(Head(OTHER_SESSION, 0, b"\0" * 32))

    with pytest.raises(LogTampered, match="another session"):
        verify(lines, SESSION, [receipt], is_signed_by_host)


def test_i4_a_receipt_means_nothing_without_the_hosts_key() -> None:
    book, lines = written_book(1)

    with pytest.raises(LogTampered, match="no host key"):
        verify(lines, SESSION, [signed(book.head)])


def test_i4_a_receipt_that_somebody_else_signed_is_refused() -> None:
    book, lines = written_book(1)

    with pytest.raises(LogTampered, match="not signed by the host"):
        verify(lines, SESSION, [signed(book.head, b"relay")], is_signed_by_host)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"index": 5}, "says it is 5"),
        ({"index": True}, "says it is True"),
        ({"index": "1"}, "says it is '1'"),
        ({"index": None}, "says it is None"),
        ({"prev": "00" * 32}, "does not follow"),
        ({"prev": None}, "does not follow"),
        ({"session": None}, "another session"),
        ({"kind": "attacked"}, "no kind 'attacked'"),
        ({"kind": 1}, "no kind 1"),
        ({"kind": None}, "no kind None"),
        ({"incarnation": "1"}, "a number is invalid"),
        ({"incarnation": True}, "a number is invalid"),
        ({"epoch": None}, "a number is invalid"),
        ({"at": "noon"}, "a number is invalid"),
        ({"incarnation": 0}, "goes down"),
        ({"incarnation": -1}, "goes down"),
        ({"epoch": 0}, "goes down"),
    ],
)
def test_an_entry_that_says_something_impossible_is_refused(
    changes: dict[str, str | int | bool | None], why: str
) -> None:
    _, lines = written_book(2)

    with pytest.raises(LogTampered, match=why) as caught:
        verify([lines[0], rewritten(lines[1], **changes)], SESSION)
    assert caught.value.facts["index"] == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"null",
        b'{"index":0}',
        b'{"index":0,"index":0}',
        b'{"index":1e400}',
        b'{"index":0.0}',
        b'{"index":[0]}',
        b'{"index":' * 20_000,
        b'{"index":"\xff"}',
        b'{"index":"\\ud800"}',
        b"\0" * 4096,
        b'{"index":"' + b"a" * (129 * 1024) + b'"}',
    ],
)
def test_a_hostile_line_is_refused(line: bytes) -> None:
    with pytest.raises(LogTampered):
        verify([line], SESSION)


def test_members_in_another_order_are_refused() -> None:
    _, lines = written_book(1)
    record = decode_line(lines[0])
    turned = encode_line(dict(reversed(record.items())))

    with pytest.raises(LogTampered, match="not an entry"):
        verify([turned], SESSION)


def test_a_line_may_be_as_long_as_the_longest_and_no_longer() -> None:
    def entry_of(size: int) -> bytes:
        book = Logbook(genesis(SESSION))
        at = (Incarnation(1), Epoch(1), 1)
        room = size - len(book.draft(EntryKind.OPENED, {"x": ""}, *at).line)
        return book.draft(EntryKind.OPENED, {"x": "y" * room}, *at).line

    assert verify([entry_of(MAX_LINE)], SESSION).count == 1
    with pytest.raises(LogTampered, match="over"):
        verify([entry_of(MAX_LINE + 1)], SESSION)


def test_a_whole_file_is_recovered_without_a_tear() -> None:
    _, lines = written_book(3)

    recovered = recover(b"".join(line + b"\n" for line in lines), SESSION)

    assert [entry.line for entry in recovered.entries] == lines
    assert recovered.torn == 0


def test_a_last_line_that_is_garbage_is_cut_off() -> None:
    _, lines = written_book(2)

    recovered = recover(lines[0] + b"\n" + b"\0" * 9 + b"\n", SESSION)

    assert [entry.line for entry in recovered.entries] == lines[:1]
    assert recovered.torn == 10


def test_damage_before_the_last_line_is_no_crash() -> None:
    _, lines = written_book(3)
    raw = b"\n".join([lines[0], lines[1].replace(b"a_1", b"a_9"), lines[2], b""])

    with pytest.raises(LogTampered):
        recover(raw, SESSION)


def test_damage_before_a_line_that_is_torn_is_no_crash() -> None:
    _, lines = written_book(3)
    raw = b"\n".join([lines[0], lines[1][:-1], lines[2][:20]])

    with pytest.raises(LogTampered):
        recover(raw, SESSION)


def test_a_line_says_what_it_follows() -> None:
    book = Logbook(genesis(SESSION))
    entry = book.draft(EntryKind.OPENED, {}, Incarnation(1), Epoch(1), 0)
    begin = genesis(SESSION)

    assert anchor_of(entry.line, SESSION) == Anchor(-1, begin.hash)
    assert anchor_of(entry.line, SessionId("s_other")) is None
    for wrong in (
        b"",
        b"{}",
        b'{"index":0,"prev":"ff"}',
        entry.line.replace(b'"index":0', b'"index":"0"'),
    ):
        assert anchor_of(wrong, SESSION) is None
