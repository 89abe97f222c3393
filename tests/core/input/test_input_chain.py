import base64

import pytest
from tests.core.signing import (
    ANNA,
    CLIENT,
    EPOCH,
    KEY,
    LIFE,
    SECRET,
    SESSION,
    Book,
    Fields,
    chain,
    given,
    signed,
)

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.commitments import (
    chain_begin,
    commitment,
    content,
    followed,
    signed_bytes,
)
from holdfast.core.input.input_chain import HIDDEN, InputChain, Statement, contents
from holdfast.crypto.keys import verify
from holdfast.model.errors import LogTampered
from holdfast.model.ids import Epoch, Incarnation
from holdfast.wire.signatures import MAX_ROTATIONS, MAX_SIGNED, ROTATION, STEP


def test_i1_each_statement_begins_where_the_one_before_ended() -> None:
    ours = chain()
    count, link = 0, chain_begin(SESSION, CLIENT)
    for number in range(1, 6):
        ours.note(given(number))
        if number not in (2, 5):
            continue
        made = ours.sign(KEY, ANNA, number)
        assert made is not None
        assert (made.first, made.last) == (count + 1, number)
        steps = (step.commitment for step in made.steps)
        count, link = followed(link, count, steps)
        text = signed_bytes(SESSION, ANNA, CLIENT, number, link)
        assert verify(KEY.public, text, made.signature)

    assert ours.signed == ours.last == 5


def test_i1_no_statement_is_larger_than_may_be_and_the_rest_comes_next() -> None:
    ours = chain()
    for number in range(1, MAX_SIGNED + 3):
        ours.note(given(number))

    first, second = (ours.sign(KEY, ANNA, ours.last) for _ in range(2))

    assert first is not None
    assert second is not None
    assert len(first.steps) == MAX_SIGNED
    assert (second.first, second.last) == (MAX_SIGNED + 1, MAX_SIGNED + 2)


def test_only_what_is_asked_for_is_signed() -> None:
    ours = chain()
    ours.note(given(1))
    ours.note(given(2))

    made = ours.sign(KEY, ANNA, 1)

    assert made is not None
    assert (made.last, ours.signed, ours.last) == (1, 1, 2)
    assert ours.sign(KEY, ANNA, 1) is None
    assert chain().sign(KEY, ANNA, 7) is None


def test_i2_what_was_forgotten_is_in_no_statement() -> None:
    ours, other = chain(), chain()
    for number, payload in ((1, b"one"), (2, b"refused"), (3, b"refused")):
        ours.note(given(number, payload))
    ours.forget_from(2)
    ours.note(given(2, b"two"))
    other.note(given(1, b"one"))
    other.note(given(2, b"two"))

    assert ours.sign(KEY, ANNA, 2) == other.sign(KEY, ANNA, 2)


def test_inputs_are_noted_in_order_and_what_was_signed_stays_so() -> None:
    ours = chain()
    with pytest.raises(AssertionError):
        ours.note(given(2))
    ours.note(given(1))
    ours.sign(KEY, ANNA, 1)

    with pytest.raises(AssertionError):
        ours.forget_from(1)


def test_how_a_key_came_about_is_said_once_in_each_chain() -> None:
    ours, rotations = chain(), b"r" * ROTATION
    ours.note(given(1))
    ours.note(given(2))

    first, second = (ours.sign(KEY, ANNA, up_to, rotations) for up_to in (1, 2))

    assert first is not None
    assert second is not None
    assert (first.rotations, second.rotations) == (rotations, b"")


def test_i3_a_payload_cannot_be_tried_out_without_its_salt() -> None:
    (step,) = signed(given(1, b"hunter2\r")).with_salts_of(()).steps
    guess = content(LIFE, EPOCH, "command", b"hunter2\r")

    assert step.salt == HIDDEN
    assert not step.opens_to(guess)
    assert commitment(HIDDEN, guess) != step.commitment


def test_i3_salts_are_kept_only_of_what_is_shown() -> None:
    made = signed(*map(given, range(1, 4)))

    kept = made.with_salts_of({2})

    assert [step.salt == HIDDEN for step in kept.steps] == [True, False, True]
    assert kept.steps[1] == made.steps[1]


def test_two_clients_that_send_the_same_have_no_salt_in_common() -> None:
    other = InputChain(SESSION, CLIENT, b"another secret")
    other.note(given(1))

    first, second = signed(given(1)), other.sign(KEY, ANNA, 1)

    assert second is not None
    assert first.steps[0] != second.steps[0]
    assert repr(first.steps[0].salt) not in repr(first)


def test_what_is_committed_to_says_life_epoch_kind_and_payload() -> None:
    known = (LIFE, EPOCH, "command", b"make\r")
    others = [
        (Incarnation(2), EPOCH, "command", b"make\r"),
        (LIFE, Epoch(4), "command", b"make\r"),
        (LIFE, EPOCH, "keys", b"make\r"),
        (LIFE, EPOCH, "command", b"fake\r"),
    ]

    assert content(*known) not in {content(*other) for other in others}


def test_a_statement_travels_as_it_was_made() -> None:
    made = signed(given(1), given(2))

    assert Statement.from_message(ANNA, made.to_message()) == made


@pytest.mark.parametrize(
    ("steps", "rotations"), [(STEP + 1, 0), (STEP - 1, 0), (STEP, ROTATION - 1)]
)
def test_what_is_no_statement_is_not_read_as_one(steps: int, rotations: int) -> None:
    said = signed(given(1)).to_message()
    wrong = type(said)(
        client=said.client,
        last=said.last,
        steps=bytes(steps),
        key=said.key,
        rotations=bytes(rotations),
        signature=said.signature,
    )

    assert Statement.from_message(ANNA, wrong) is None


def test_a_statement_is_read_from_its_entry_as_it_was_made() -> None:
    made = signed(*map(given, range(1, 4)))
    book = Book()
    book.keep(made)

    assert Statement.from_entry(book.entries()[0]) == made


GOOD: Fields = signed(given(1)).to_fields()


def based(size: int) -> str:
    return base64.b64encode(bytes(size)).decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": ""},
        {"steps": "#"},
        {"steps": based(STEP - 1)},
        {"steps": based(STEP * (MAX_SIGNED + 1))},
        {"rotations": based(1)},
        {"rotations": based(ROTATION * (MAX_ROTATIONS + 1))},
        {"signature": "00"},
        {"signature": "x"},
        {"key": "00"},
        {"last": "1"},
        {"last": None},
        {"last": True},
    ],
)
def test_an_entry_that_keeps_no_statement_is_refused(wrong: Fields) -> None:
    book = Book()
    book.write(EntryKind.SIGNED, GOOD | wrong)

    with pytest.raises(LogTampered, match="no statement"):
        Statement.from_entry(book.entries()[0])


@pytest.mark.parametrize(
    "most",
    [
        {"steps": based(STEP * MAX_SIGNED)},
        {"rotations": based(ROTATION * MAX_ROTATIONS)},
    ],
)
def test_an_entry_may_keep_as_much_as_a_statement_has(most: Fields) -> None:
    book = Book()
    book.write(EntryKind.SIGNED, GOOD | most)

    read = Statement.from_entry(book.entries()[0])

    assert len(read.steps) in (1, MAX_SIGNED)


@pytest.mark.parametrize("data", ["#", None, 7])
def test_a_payload_that_cannot_be_read_was_made_by_nobody(data: str | None) -> None:
    book = Book()
    book.write(EntryKind.INPUT, {"input": "keys", "data": data})

    assert contents(book.entries()[0], was_free=False) == ()


def test_an_input_made_before_a_move_is_of_the_life_it_was_made_for() -> None:
    book = Book()
    book.write(EntryKind.INPUT, {"input": "keys", "data": "", "life": 7})
    book.write(EntryKind.INPUT, {"input": "keys", "data": ""})

    before, here = book.entries()

    assert contents(before, was_free=False) != contents(here, was_free=False)
    assert contents(before, was_free=False) == (
        content(Incarnation(7), before.epoch, "keys", b""),
    )


def test_numbers_that_no_client_has_said_were_made_by_nobody() -> None:
    book = Book()
    book.write(EntryKind.INPUT, {"input": "keys", "data": ""}, Epoch(0))
    book.write(EntryKind.INPUT, {"input": "keys", "data": ""}, Epoch(2**64))

    first, second = book.entries()

    assert contents(first, was_free=True) == ()
    assert contents(second, was_free=False) == ()


def test_a_secret_makes_the_salts_and_nothing_else() -> None:
    assert signed(given(1)) == signed(given(1))
    assert SECRET not in signed(given(1)).to_message().steps
