import hmac

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from holdfast.core.book.logbook import (
    Entry,
    EntryKind,
    Head,
    Logbook,
    Receipt,
    genesis,
    read_entries,
    recover,
    verify,
)
from holdfast.model.errors import HoldfastError, LogTampered, PeerError
from holdfast.model.ids import Epoch, Incarnation, SessionId, next_incarnation

SESSION = SessionId("s_one")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = texts | st.integers(-9, 9) | st.booleans() | st.none()
fields = st.dictionaries(st.sampled_from("xyz"), values, max_size=2)
acts = st.tuples(st.sampled_from(EntryKind), fields, st.booleans(), st.booleans())
stories = st.lists(acts, min_size=1, max_size=8)


@st.composite
def books(draw: st.DrawFn) -> list[Entry]:
    book = Logbook(genesis(SESSION))
    entries: list[Entry] = []
    incarnation, epoch = 1, 0
    for at, (kind, said, dies, passes) in enumerate(draw(stories)):
        incarnation, epoch = incarnation + dies, epoch + passes
        entry = book.draft(kind, said, Incarnation(incarnation), Epoch(epoch), at)
        book.commit(entry)
        entries.append(entry)
    return entries


def lines_of(entries: list[Entry]) -> list[bytes]:
    return [entry.line for entry in entries]


def file_of(entries: list[Entry]) -> bytes:
    return b"".join(entry.line + b"\n" for entry in entries)


def signature(message: bytes) -> bytes:
    return hmac.digest(b"host", message, "sha256")


def is_signed_by_host(message: bytes, given_signature: bytes) -> bool:
    return signature(message) == given_signature


def receipt_for(entry: Entry) -> Receipt:
    head = Head(SESSION, entry.index, entry.hash)
    statement = head.signed_bytes(entry.incarnation)
    return Receipt(head, entry.incarnation, signature(statement))


def holds_together(lines: list[bytes]) -> bool:
    try:
        verify(lines, SESSION)
    except PeerError:
        return False
    return True


@given(books())
def test_i1_what_was_written_is_read_again_without_gaps(entries: list[Entry]) -> None:
    read = list(read_entries(lines_of(entries), SESSION))

    assert [entry.index for entry in read] == list(range(len(entries))), "I1"
    for mine, theirs in zip(entries, read, strict=True):
        assert dict(mine.fields).items() <= dict(theirs.fields).items()
        assert structs.replace(theirs, fields={}) == structs.replace(mine, fields={})


@given(books(), st.data())
def test_i1_incarnations_and_epochs_that_go_down_are_detected(
    entries: list[Entry], data: st.DataObject
) -> None:
    last = entries[-1]
    book = Logbook(Head(SESSION, last.index, last.hash))
    incarnation = Incarnation(data.draw(st.integers(0, last.incarnation)))
    epoch = Epoch(data.draw(st.integers(-1, last.epoch)))
    added = book.draft(EntryKind.EXITED, {}, incarnation, epoch, 0)

    is_lower = incarnation < last.incarnation or epoch < last.epoch
    assert holds_together([*lines_of(entries), added.line]) == (not is_lower), "I1"


@given(books(), st.data())
def test_i2_lines_put_in_any_other_order_are_detected(
    entries: list[Entry], data: st.DataObject
) -> None:
    lines = lines_of(entries)
    places = st.integers(0, len(lines) - 1)
    changed = list(lines)
    match data.draw(st.sampled_from(("remove", "repeat", "swap", "move"))):
        case "remove":
            del changed[data.draw(places)]
        case "repeat":
            changed.insert(data.draw(places), changed[data.draw(places)])
        case "swap":
            one, other = data.draw(places), data.draw(places)
            changed[one], changed[other] = changed[other], changed[one]
        case _:
            changed.insert(data.draw(places), changed.pop(data.draw(places)))

    is_prefix = changed == lines[: len(changed)]
    assert holds_together(changed) == is_prefix, "I2"


@given(books(), books(), st.data())
def test_i2_lines_of_another_telling_are_detected(
    entries: list[Entry], others: list[Entry], data: st.DataObject
) -> None:
    lines, foreign = lines_of(entries), lines_of(others)
    at = data.draw(st.integers(0, len(lines) - 1))
    inserted = data.draw(st.sampled_from(foreign))
    changed = [*lines[:at], inserted, *lines[at:]]

    assert not holds_together(changed), "I2"


@given(books(), st.data())
def test_i2_every_flipped_bit_is_detected(
    entries: list[Entry], data: st.DataObject
) -> None:
    *before, last = lines_of(entries)
    bit = 1 << data.draw(st.integers(0, 7))

    receipts = [receipt_for(entries[-1])]
    for at in range(len(last)):
        flipped = last[:at] + bytes([last[at] ^ bit]) + last[at + 1 :]
        try:
            verify([*before, flipped], SESSION, receipts, is_signed_by_host)
        except HoldfastError:
            continue
        raise AssertionError("I2", at, bit)


@given(books(), st.data())
def test_i2_every_edit_before_the_last_line_needs_no_receipt(
    entries: list[Entry], data: st.DataObject
) -> None:
    book = Logbook(Head(SESSION, entries[-1].index, entries[-1].hash))
    last = entries[-1]
    added = book.draft(EntryKind.EXITED, {}, last.incarnation, last.epoch, 0)
    lines = [*lines_of(entries), added.line]
    at = data.draw(st.integers(0, len(lines) - 2))
    place = data.draw(st.integers(0, len(lines[at]) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != lines[at][place]))
    lines[at] = lines[at][:place] + bytes([byte]) + lines[at][place + 1 :]

    assert not holds_together(lines), "I2"


@given(books(), books(), st.data())
def test_i3_a_log_is_accepted_only_if_it_holds_what_was_receipted(
    entries: list[Entry], others: list[Entry], data: st.DataObject
) -> None:
    shown = data.draw(st.sampled_from((entries, others)))
    shown = shown[: data.draw(st.integers(0, len(shown)))]
    receipted = data.draw(st.lists(st.sampled_from([*entries, *others]), max_size=3))

    try:
        verify(lines_of(shown), SESSION, map(receipt_for, receipted), is_signed_by_host)
        accepted = True
    except HoldfastError:
        accepted = False

    held = {(entry.index, entry.hash) for entry in shown}
    assert accepted == all((one.index, one.hash) in held for one in receipted), "I3"


@given(books(), st.data())
def test_i4_no_altered_receipt_verifies(
    entries: list[Entry], data: st.DataObject
) -> None:
    receipt = receipt_for(data.draw(st.sampled_from(entries)))
    life = receipt.incarnation
    other = Head(
        data.draw(st.sampled_from([SESSION, SessionId("s_other")])),
        data.draw(st.integers(-1, len(entries))),
        data.draw(st.sampled_from([entry.hash for entry in entries])),
    )
    forged = data.draw(
        st.sampled_from(
            [
                Receipt(other, life, receipt.signature),
                Receipt(receipt.head, next_incarnation(life), receipt.signature),
                Receipt(receipt.head, life, receipt.signature[:-1]),
                Receipt(receipt.head, life, b""),
                Receipt(receipt.head, life, signature(receipt.head.hash)),
            ]
        )
    )

    try:
        verify(lines_of(entries), SESSION, [forged], is_signed_by_host)
    except LogTampered:
        return
    assert forged == receipt, "I4"


@given(books())
def test_a_crash_at_any_byte_loses_at_most_the_line_being_written(
    entries: list[Entry],
) -> None:
    raw = file_of(entries)

    for size in range(len(raw) + 1):
        recovered = recover(raw[:size], SESSION)
        whole = raw[:size].count(b"\n")
        assert lines_of(list(recovered.entries)) == lines_of(entries[:whole])
        kept = file_of(list(recovered.entries))
        assert len(kept) + recovered.torn == size
        assert raw.startswith(kept)


@given(books(), st.binary(max_size=40))
def test_garbage_after_the_last_whole_line_is_cut_off_or_reported(
    entries: list[Entry], garbage: bytes
) -> None:
    raw = file_of(entries) + garbage

    try:
        recovered = recover(raw, SESSION)
    except LogTampered:
        assert b"\n" in garbage
        return
    assert lines_of(list(recovered.entries)) == lines_of(entries)
    assert recovered.torn == len(garbage)


@given(st.binary(max_size=200))
def test_no_file_raises_anything_but_a_peer_error(raw: bytes) -> None:
    try:
        recovered = recover(raw, SESSION)
    except PeerError:
        return
    assert recovered.entries == ()
    assert recovered.torn == len(raw)
