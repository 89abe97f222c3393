from dataclasses import replace

import pytest
from tests.core.input.test_signed_inputs import FIRST, SECOND, THIRD, TURNS
from tests.core.signing import (
    ANNA,
    BOT,
    BOT_KEY,
    EPOCH,
    KEY,
    SESSION,
    Book,
    Fields,
    chain,
    given,
    signed,
)
from tools.verify_logbook import MAX_LISTED, check_export

from holdfast.core.book.log_export import export_lines
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.signed_inputs import Coverage
from holdfast.crypto.identity import Identity
from holdfast.model.ids import Epoch, actor_id


def checked(book: Book) -> str:
    lines = export_lines(SESSION, len(book.lines), book.lines, None)
    return check_export(b"".join(line + b"\n" for line in lines))


def agree(book: Book) -> Coverage:
    """Check that the program says of a book what we say of it; return that."""
    ours, said = book.check(), checked(book)
    count = ours.signed + ours.hidden
    whole = count + len(ours.unsigned)
    assert f"{count} of {whole} inputs are signed by their operators." in said
    for indices, words in (
        (ours.unsigned, "Only the host vouches for the inputs of entry"),
        (ours.void, "The signatures of entry"),
    ):
        listed = f"{words} {', '.join(map(str, indices))}"
        assert (listed in said) == bool(indices)
    return ours


def test_t35_what_operators_signed_is_counted_and_the_rest_is_listed() -> None:
    book = Book()
    book.admit(given(1))
    book.admit(given(2), hidden=True)
    book.keep(signed(given(1), given(2)).with_salts_of({1}))
    book.admit(given(3))

    assert agree(book) == Coverage(signed=1, hidden=1, unsigned=(3,))


@pytest.mark.parametrize("epoch", [EPOCH, Epoch(EPOCH - 1)])
def test_t35_an_input_that_its_operator_did_not_make_is_refused(epoch: Epoch) -> None:
    book = Book()
    book.admit(given(1, b"rm -r /\r", epoch=epoch))
    book.keep(signed(given(1)))

    with pytest.raises(ValueError, match="entry 0: forged"):
        checked(book)


def test_t35_a_payload_that_cannot_be_read_is_refused() -> None:
    book = Book()
    fields: Fields = {"actor": ANNA, "client": given(1).client, "sequence": 1}
    book.write(EntryKind.INPUT, fields | {"input": "keys", "data": "#"})
    book.keep(signed(given(1)))

    with pytest.raises(ValueError, match="cannot be read"):
        checked(book)


def test_t35_an_input_under_another_name_or_a_second_time_is_listed() -> None:
    book = Book()
    book.admit(given(1), BOT)
    book.admit(given(1))
    book.admit(given(1, b"again\r"))
    book.keep(signed(given(1)))

    assert agree(book) == Coverage(signed=1, unsigned=(0, 2))


def test_t35_a_host_cannot_sign_for_an_operator() -> None:
    made = signed(given(1))
    book = Book()
    book.admit(given(1))
    book.keep(signed(given(1), by=BOT_KEY))
    book.keep(replace(made, signature=KEY.sign(b"something else")))
    book.keep(replace(made, last=2))

    assert agree(book) == Coverage(unsigned=(0,), void=(1, 2, 3))


def test_t35_a_salt_that_was_left_out_signs_nothing() -> None:
    book = Book()
    book.admit(given(1, b"rm -r /\r"))
    book.keep(signed(given(1)).with_salts_of(()))

    assert agree(book) == Coverage(unsigned=(0,))


def test_what_is_no_statement_is_refused() -> None:
    book = Book()
    book.keep(replace(signed(given(1)), steps=()))

    with pytest.raises(ValueError, match="no statement"):
        checked(book)


def test_what_was_typed_while_the_turn_was_free_is_signed() -> None:
    book = Book()
    book.write(EntryKind.TURN, {"from": None, "to": ANNA, "reason": "taken"})
    early = given(1, epoch=Epoch(EPOCH - 1))
    book.admit(early)
    book.keep(signed(early))

    assert agree(book) == Coverage(signed=1)


@pytest.mark.parametrize(
    ("first", "by", "raw", "count"),
    [
        (FIRST, THIRD, TURNS, 1),
        (SECOND, THIRD, TURNS, 1),
        (FIRST, THIRD, b"", 0),
        (FIRST, THIRD, TURNS[192:], 0),
        (FIRST, THIRD, TURNS[:64] + bytes(128) + TURNS[192:], 0),
    ],
)
def test_a_key_that_took_the_first_ones_place_signs_as_well(
    first: Identity, by: Identity, raw: bytes, count: int
) -> None:
    ours, book, us = chain(), Book(), actor_id(first.public)
    ours.note(given(1))
    book.admit(given(1), us)
    book.keep(ours.sign(by, us, 1, raw))

    assert agree(book).signed == count


def test_a_long_list_is_cut_short_and_says_so() -> None:
    book = Book()
    for number in range(1, MAX_LISTED + 4):
        book.admit(given(number))

    assert " and 3 more." in checked(book)
