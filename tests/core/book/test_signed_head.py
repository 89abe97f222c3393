import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.receipts import receipt_in, signature_check

from holdfast.core.book.logbook import (
    EntryKind,
    Head,
    Logbook,
    Receipt,
    genesis,
    verify,
)
from holdfast.core.book.signed_head import (
    SignedHead,
    sign_head,
)
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import LogbookWithheld, LogTampered, PeerError
from holdfast.model.ids import ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.wire import messages as wire

SESSION, OTHER = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
LIFE = Incarnation(2)
KEY = SigningKey.from_seed(b"\1" * 32)
ANOTHER = SigningKey.from_seed(b"\2" * 32)
SIGNED = sign_head(Head(SESSION, 3, b"\7" * 32), LIFE, KEY)


def book(size: int) -> tuple[list[bytes], Head]:
    logbook, lines = Logbook(genesis(SESSION)), []
    for number in range(size):
        entry = logbook.draft(EntryKind.ATTACHED, {}, LIFE, Epoch(1), number)
        logbook.commit(entry)
        lines.append(entry.line)
    return lines, logbook.head


def test_i1_a_signed_head_is_genuine_and_its_receipt_is_honoured() -> None:
    lines, head = book(3)
    signed = sign_head(head, LIFE, KEY)

    assert signed.is_genuine()
    assert verify(lines, SESSION, [signed.receipt], signature_check(KEY.public)).count


def test_i3_the_head_after_the_first_entry_is_read_as_it_was_written() -> None:
    signed = sign_head(Head(SESSION, Index(0), b"\7" * 32), LIFE, KEY)

    assert SignedHead.from_line(signed.to_line()) == signed


def test_i1_the_head_of_an_empty_book_can_be_signed() -> None:
    signed = sign_head(genesis(SESSION), LIFE, KEY)

    assert verify([], SESSION, [signed.receipt], signature_check(KEY.public)).count == 0


@pytest.mark.parametrize(
    "receipt",
    [
        Receipt(Head(OTHER, 3, b"\7" * 32), LIFE, SIGNED.receipt.signature),
        Receipt(Head(SESSION, 4, b"\7" * 32), LIFE, SIGNED.receipt.signature),
        Receipt(Head(SESSION, 3, b"\6" * 32), LIFE, SIGNED.receipt.signature),
        Receipt(SIGNED.receipt.head, Incarnation(3), SIGNED.receipt.signature),
        Receipt(SIGNED.receipt.head, LIFE, bytes(64)),
    ],
)
def test_i2_nothing_else_is_accepted_with_a_signature(receipt: Receipt) -> None:
    assert not SignedHead(receipt, KEY.public).is_genuine()


def test_i2_another_key_did_not_sign_it() -> None:
    lines, head = book(1)
    signed = sign_head(head, LIFE, KEY)

    assert not SignedHead(signed.receipt, ANOTHER.public).is_genuine()
    with pytest.raises(LogTampered):
        verify(lines, SESSION, [signed.receipt], signature_check(ANOTHER.public))


def test_a_tail_that_was_cut_off_contradicts_the_signed_head() -> None:
    lines, head = book(3)
    receipt = sign_head(head, LIFE, KEY).receipt

    with pytest.raises(LogbookWithheld):
        verify(lines[:2], SESSION, [receipt], signature_check(KEY.public))


def test_i3_a_line_says_what_was_written() -> None:
    assert SignedHead.from_line(SIGNED.to_line()) == SIGNED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"head":3', b'"head":"3"'),
        (b'"head":3', b'"head":true'),
        (b'"head"', b'"tail"'),
        (b'"hash":"07', b'"hash":"7'),
        (b'"hash":"07', b'"hash":"zz'),
        (SIGNED.host.hex().encode(), SIGNED.host.hex().upper().encode()),
        (b"}", b',"more":1}'),
        (b",", b", "),
    ],
)
def test_i3_any_other_line_is_refused(old: bytes, new: bytes) -> None:
    line = SIGNED.to_line().replace(old, new)

    assert line != SIGNED.to_line()
    with pytest.raises(PeerError):
        SignedHead.from_line(line)


@given(st.binary(max_size=400))
def test_no_bytes_raise_anything_but_a_peer_error(line: bytes) -> None:
    with pytest.raises(PeerError):
        SignedHead.from_line(line)


def test_an_acknowledgement_brings_a_receipt_or_none() -> None:
    client, receipt = ClientId("c_" + "c" * 16), SIGNED.receipt
    said = wire.Receipt(receipt.head.hash, receipt.signature)

    with_one = wire.Acknowledge(client, 1, Index(3), said)
    without = wire.Acknowledge(client, 1, Index(3), None)

    assert receipt_in(with_one, SESSION, LIFE) == receipt
    assert receipt_in(without, SESSION, LIFE) is None
