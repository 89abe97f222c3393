from dataclasses import replace

import pytest
from tests.core.signing import (
    ANNA,
    BOT,
    BOT_KEY,
    CLIENT,
    EPOCH,
    KEY,
    OTHER_CLIENT,
    Book,
    Fields,
    chain,
    given,
    signed,
)

from holdfast.core.book.entries import Admission, input_fields
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.input_chain import InputChain, Statement
from holdfast.core.input.signed_inputs import Coverage
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import SigningKey
from holdfast.crypto.rotation import rotate
from holdfast.model.actors import ActorKind
from holdfast.model.errors import LogTampered
from holdfast.model.ids import Epoch, SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.messages import Submit

FIRST, SECOND, THIRD = (Identity.from_seed(bytes([n]) * 32) for n in (7, 8, 9))
TURNS = rotate(FIRST, SECOND).to_bytes() + rotate(SECOND, THIRD).to_bytes()


def statements(*made: Submit) -> list[Statement]:
    """Return a statement of its own about each input."""
    ours = chain()
    found = []
    for one in made:
        ours.note(one)
        statement = ours.sign(KEY, ANNA, one.sequence)
        assert statement is not None
        found.append(statement)
    return found


def test_i1_what_was_noted_and_signed_is_found_signed() -> None:
    book = Book()
    made = [given(number) for number in range(1, 4)]
    for one, statement in zip(made, statements(*made), strict=True):
        book.admit(one)
        book.keep(statement)

    assert book.check() == Coverage(signed=3)


def test_inputs_that_were_refused_leave_no_hole() -> None:
    book = Book()
    book.admit(given(1))
    book.admit(given(3))
    book.keep(signed(*map(given, range(1, 4))))

    assert book.check() == Coverage(signed=2)


def test_what_no_statement_speaks_of_is_listed() -> None:
    book = Book()
    book.admit(given(1))
    book.keep(signed(given(1)))
    book.admit(given(2))
    book.write(EntryKind.DETACHED, {"actor": ANNA, "client": CLIENT})

    assert book.check() == Coverage(signed=1, unsigned=(2,))


@pytest.mark.parametrize(
    "forged", [given(1, b"rm -r /\r"), given(1, kind=InputKind.KEYS)]
)
def test_i2_t35_an_input_that_its_operator_did_not_make_is_refused(
    forged: Submit,
) -> None:
    book = Book()
    book.admit(forged)
    book.keep(signed(given(1)))

    with pytest.raises(LogTampered, match="another input"):
        book.check()


def test_i2_t35_an_input_made_under_another_epoch_is_refused() -> None:
    book = Book()
    book.admit(given(1), epoch=Epoch(EPOCH - 1))
    book.keep(signed(given(1)))

    with pytest.raises(LogTampered, match="another input"):
        book.check()


def test_what_was_typed_while_the_turn_was_free_was_made_under_the_epoch_before() -> (
    None
):
    book = Book()
    book.write(EntryKind.TURN, {"from": None, "to": ANNA, "reason": "taken"})
    early, late = given(1, epoch=Epoch(EPOCH - 1)), given(2)
    book.admit(early)
    book.admit(late)
    book.keep(signed(early, late))

    assert book.check() == Coverage(signed=2)


@pytest.mark.parametrize("turn", [{"from": BOT, "to": ANNA}, {"from": None, "to": BOT}])
def test_i2_only_whoever_took_a_free_turn_has_typed_before_it(turn: Fields) -> None:
    book = Book()
    book.write(EntryKind.TURN, turn)
    early = given(1, epoch=Epoch(EPOCH - 1))
    book.admit(early)
    book.keep(signed(early))

    with pytest.raises(LogTampered, match="another input"):
        book.check()


def test_i2_t35_an_input_of_another_operator_client_or_sequence_is_not_signed() -> None:
    book = Book()
    book.admit(given(1), BOT)
    book.admit(given(1, client=OTHER_CLIENT))
    book.admit(given(7))
    book.keep(signed(given(1)))

    assert book.check() == Coverage(unsigned=(0, 1, 2))


def test_i2_an_input_that_comes_a_second_time_was_signed_once() -> None:
    book = Book()
    book.admit(given(1))
    book.keep(signed(given(1)))
    book.admit(given(1, b"rm -r /\r"))

    assert book.check() == Coverage(signed=1, unsigned=(2,))


def test_i2_an_input_that_comes_twice_before_it_is_signed_was_signed_once() -> None:
    book = Book()
    book.admit(given(1))
    book.admit(given(1, b"rm -r /\r"))
    book.keep(signed(given(1)))
    book.admit(given(1, b"rm -r /\r"))

    assert book.check() == Coverage(signed=1, unsigned=(1, 3))


def test_i2_an_input_after_its_statement_is_measured_by_it() -> None:
    book, forged = Book(), Book()
    for one in (book, forged):
        one.keep(signed(given(1), given(2)))
    book.admit(given(2))
    forged.admit(given(2, b"rm -r /\r"))

    assert book.check() == Coverage(signed=1)
    with pytest.raises(LogTampered, match="signed another input"):
        forged.check()


def test_i2_a_statement_is_for_one_session_only() -> None:
    ours = InputChain(SessionId("s_" + "b" * 16), CLIENT, b"secret")
    ours.note(given(1))
    book = Book()
    book.admit(given(1))
    book.keep(ours.sign(KEY, ANNA, 1))

    assert book.check() == Coverage(unsigned=(0,), void=(1,))


def test_i3_after_a_statement_that_is_missing_nothing_is_signed() -> None:
    first, _, third = statements(*map(given, range(1, 4)))
    book = Book()
    for number in range(1, 4):
        book.admit(given(number))
    book.keep(first, third)

    assert book.check() == Coverage(signed=1, unsigned=(1, 2), void=(4,))


def test_i3_a_statement_that_was_moved_or_comes_twice_counts_for_nothing() -> None:
    first, second = statements(given(1), given(2))
    book = Book()
    book.admit(given(1))
    book.admit(given(2))
    book.keep(second, first, first)

    assert book.check() == Coverage(signed=1, unsigned=(1,), void=(2, 4))


def test_i3_a_statement_that_was_changed_counts_for_nothing() -> None:
    made = signed(given(1), given(2))
    swapped = replace(made, steps=made.steps[::-1])
    book = Book()
    book.admit(given(1))
    book.keep(swapped, replace(made, signature=bytes(64)), replace(made, last=3))

    assert book.check() == Coverage(unsigned=(0,), void=(1, 2, 3))


def test_i3_a_statement_by_another_key_counts_for_nothing() -> None:
    stranger = SigningKey.from_seed(bytes(32))
    book = Book()
    book.admit(given(1))
    book.keep(signed(given(1), by=stranger))
    book.keep(replace(signed(given(1)), actor=BOT))

    assert book.check() == Coverage(unsigned=(0,), void=(1, 2))


def test_i4_what_another_signs_under_our_client_changes_nothing() -> None:
    book = Book()
    book.keep(signed(given(1, b"another\r"), by=BOT_KEY, actor=BOT))
    book.admit(given(1))
    book.keep(signed(given(1)))
    book.keep(replace(signed(given(1)), actor=BOT))

    assert book.check() == Coverage(signed=1, void=(3,))


def test_a_hidden_payload_is_signed_all_the_same() -> None:
    made = signed(given(1, b"sudo ls\r"), given(2, b"hunter2\r"))
    book = Book()
    book.admit(given(1, b"sudo ls\r"))
    book.admit(given(2, b"hunter2\r"), hidden=True)
    book.keep(made.with_salts_of({1}))

    assert book.check() == Coverage(signed=1, hidden=1)


def test_an_input_whose_salt_was_left_out_is_signed_by_nobody() -> None:
    book = Book()
    book.admit(given(1, b"rm -r /\r"))
    book.keep(signed(given(1)).with_salts_of(()))

    assert book.check() == Coverage(unsigned=(0,))


def rotated(raw: bytes, *, by: Identity, first: Identity = FIRST) -> Coverage:
    ours, book = chain(), Book()
    ours.note(given(1))
    ours.note(given(2))
    us = actor_id(first.public)
    book.admit(given(1), us)
    book.admit(given(2), us)
    book.keep(ours.sign(by, us, 1, raw), ours.sign(by, us, 2, raw))
    return book.check()


def test_a_key_that_took_the_first_ones_place_signs_as_well() -> None:
    assert rotated(b"", by=FIRST) == Coverage(signed=2)
    assert rotated(TURNS, by=THIRD) == Coverage(signed=2)
    assert rotated(TURNS, by=SECOND) == Coverage(signed=2)


def test_whoever_came_here_with_a_later_key_is_known_by_that_one() -> None:
    assert rotated(TURNS, by=THIRD, first=SECOND) == Coverage(signed=2)
    assert rotated(TURNS, by=FIRST, first=SECOND).signed == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        TURNS[192:],
        TURNS[:100] + bytes(92) + TURNS[192:],
        rotate(FIRST, THIRD).to_bytes()[:-64] + bytes(64),
    ],
)
def test_t35_a_key_that_nobody_gave_way_to_signs_nothing(raw: bytes) -> None:
    assert rotated(raw, by=THIRD) == Coverage(unsigned=(0, 1), void=(2, 3))


@pytest.mark.parametrize("odd", [{}, {"client": CLIENT, "sequence": "1"}])
def test_an_input_without_a_number_is_signed_by_nobody(odd: Fields) -> None:
    book = Book()
    book.write(EntryKind.INPUT, odd)

    assert book.check() == Coverage(unsigned=(0,))


def test_an_input_whose_payload_cannot_be_read_is_not_the_one_signed() -> None:
    book = Book()
    whole = input_fields(
        given(1).to_input(ANNA), ActorKind.HUMAN, Admission(Verdict.ALLOW, "rule"), None
    )
    book.write(EntryKind.INPUT, whole | {"data": "#"})
    book.keep(signed(given(1)))

    with pytest.raises(LogTampered, match="another input"):
        book.check()


def test_an_entry_that_keeps_no_statement_is_refused() -> None:
    book = Book()
    book.write(EntryKind.SIGNED, {"actor": ANNA, "client": CLIENT})

    with pytest.raises(LogTampered, match="no statement"):
        book.check()
