import contextlib

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st
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

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.input_chain import HIDDEN, Statement
from holdfast.core.input.statements import BURST, MAX_SIGNERS, MAX_UNSIGNED, Statements
from holdfast.model.errors import AskedTooOften, StatementRefused
from holdfast.model.ids import ClientId, Epoch
from holdfast.wire.messages import Submit
from holdfast.wire.signatures import MAX_SIGNED, STEP


class Holder:
    """Writes a book, and keeps in it what it is handed."""

    def __init__(self) -> None:
        self.book = Book()
        self.statements = Statements()
        self.now = 0.0

    def admit(self, one: Submit, *, hidden: bool = False) -> None:
        self.book.admit(one, hidden=hidden)
        self.statements.read(self.book.entries()[-1])

    def take(self, made: Statement | None) -> Statement | None:
        assert made is not None
        kept = self.statements.take(made.actor, made.to_message(), self.now)
        if kept is not None:
            self.book.keep(kept)
            self.statements.read(self.book.entries()[-1])
        return kept

    def successor(self) -> "Holder":
        other = Holder()
        other.book = self.book
        for entry in self.book.entries():
            other.statements.read(entry)
        return other


@pytest.fixture
def holder() -> Holder:
    return Holder()


def test_what_was_signed_goes_into_the_book_and_is_found_signed(holder: Holder) -> None:
    holder.admit(given(1))

    holder.take(signed(given(1)))

    assert holder.book.check().signed == 1
    assert holder.statements.signed_by(ANNA, CLIENT) == 1


def test_i1_what_is_in_the_book_is_not_written_twice(holder: Holder) -> None:
    holder.admit(given(1))
    holder.take(signed(given(1)))

    assert holder.take(signed(given(1))) is None
    assert holder.successor().take(signed(given(1))) is None


def test_i1_a_statement_that_is_on_its_way_to_the_disk_is_not_taken_again(
    holder: Holder,
) -> None:
    holder.admit(given(1))
    said = signed(given(1)).to_message()

    assert holder.statements.take(ANNA, said, 0) is not None
    assert holder.statements.take(ANNA, said, 0) is None


@pytest.mark.parametrize("first", [2, 3])
def test_i1_what_does_not_follow_is_refused(holder: Holder, first: int) -> None:
    ours = chain()
    for number in range(1, 4):
        ours.note(given(number))
        holder.admit(given(number))
    ours.sign(KEY, ANNA, first - 1)

    with pytest.raises(StatementRefused, match="begin with input 1"):
        holder.take(ours.sign(KEY, ANNA, 3))


def test_what_is_no_statement_is_refused(holder: Holder) -> None:
    holder.admit(given(1))
    said = signed(given(1)).to_message()
    wrong = type(said)(
        client=said.client,
        last=1,
        steps=bytes(STEP + 1),
        key=said.key,
        rotations=b"",
        signature=said.signature,
    )

    with pytest.raises(StatementRefused):
        holder.statements.take(ANNA, wrong, 0)


def test_what_has_not_come_or_was_refused_is_not_signed_last(holder: Holder) -> None:
    holder.admit(given(1))

    with pytest.raises(StatementRefused, match="not in the book"):
        holder.take(signed(given(1), given(2)))


def test_what_was_refused_in_between_is_signed_along(holder: Holder) -> None:
    holder.admit(given(2))

    kept = holder.take(signed(given(1), given(2)))

    assert kept is not None
    assert [step.salt == HIDDEN for step in kept.steps] == [True, False]
    assert holder.book.check().signed == 1


def test_nobody_signs_for_another_operator_or_client(holder: Holder) -> None:
    holder.admit(given(1))
    said = signed(given(1)).to_message()
    other = signed(given(1, client=OTHER_CLIENT))

    with pytest.raises(StatementRefused, match="not in the book"):
        holder.statements.take(BOT, said, 0)
    with pytest.raises(StatementRefused, match="not in the book"):
        holder.take(other)


def test_i2_what_says_something_else_than_the_book_is_refused(holder: Holder) -> None:
    holder.admit(given(1))
    holder.admit(given(2))

    with pytest.raises(StatementRefused, match="another input 1"):
        holder.take(signed(given(1, b"not this\r"), given(2)))
    with pytest.raises(StatementRefused, match="another input 1"):
        holder.take(signed(given(1)).with_salts_of(()))
    assert holder.book.check().unsigned == (0, 1)


def test_i2_what_was_typed_while_the_turn_was_free_is_the_same_input(
    holder: Holder,
) -> None:
    for to in (None, ANNA):
        taken: Fields = {"from": None if to else BOT, "to": to}
        holder.book.write(EntryKind.TURN, taken)
        holder.statements.read(holder.book.entries()[-1])
    early = given(1, epoch=Epoch(EPOCH - 1))
    holder.admit(early)

    holder.take(signed(early))

    assert holder.book.check().signed == 1


def test_i3_no_salt_of_a_hidden_payload_is_kept(holder: Holder) -> None:
    holder.admit(given(1), hidden=True)

    kept = holder.take(signed(given(1)))

    assert kept is not None
    assert kept.steps[0].salt == HIDDEN
    assert holder.book.check().hidden == 1


def test_i4_statements_that_come_too_often_may_come_later(holder: Holder) -> None:
    number, refused = 0, None
    ours = chain()
    while refused is None:
        number += 1
        ours.note(given(number))
        holder.admit(given(number))
        made = ours.sign(KEY, ANNA, number)
        try:
            holder.take(made)
        except AskedTooOften as error:
            refused = made, error

    assert number < BURST // 512
    holder.now += 1
    assert holder.take(refused[0]) is not None


def test_i4_a_flood_of_unsigned_inputs_is_forgotten_oldest_first(
    holder: Holder,
) -> None:
    made = [given(number, b"k") for number in range(1, MAX_UNSIGNED + 2)]
    for one in made:
        holder.admit(one)
    ours = chain()
    for one in made:
        ours.note(one)

    kept = holder.take(ours.sign(KEY, ANNA, MAX_SIGNED))

    assert kept is not None
    assert [step.salt == HIDDEN for step in kept.steps[:2]] == [True, False]
    assert holder.book.check().signed == MAX_SIGNED - 1


def test_i4_who_is_forgotten_signs_no_more(holder: Holder) -> None:
    holder.admit(given(1))
    holder.admit(given(2))
    ours = chain()
    ours.note(given(1))
    ours.note(given(2))
    holder.take(ours.sign(KEY, ANNA, 1))
    book = Book()
    for number in range(MAX_SIGNERS):
        client = ClientId(f"c_{number}")
        book.write(EntryKind.SIGNED, {"actor": BOT, "client": client, "last": 1})
    *others, last = book.entries()
    for entry in others:
        holder.statements.read(entry)
    assert holder.statements.signed_by(ANNA, CLIENT) == 1
    holder.statements.read(last)

    with pytest.raises(StatementRefused, match="begin with input 1"):
        holder.take(ours.sign(KEY, ANNA, 2))


def test_entries_that_say_nothing_of_inputs_change_nothing(holder: Holder) -> None:
    holder.book.write(EntryKind.ATTACHED, {"actor": ANNA, "client": CLIENT})

    holder.statements.read(holder.book.entries()[-1])

    assert holder.statements.signed_by(ANNA, CLIENT) == 0


hostile = st.lists(
    st.tuples(
        st.sampled_from(["input", "hidden", "refused", "sign", "lie", "repeat", "die"]),
        st.integers(0, 4),
    ),
    max_size=25,
)


@examples(hostile)
def test_i1_i2_whatever_operators_hand_over_no_book_looks_forged(
    acts: list[tuple[str, int]],
) -> None:
    holder, ours = Holder(), chain()
    last: Statement | None = None
    for act, number in acts:
        sequence = ours.last + 1
        if act in ("input", "hidden", "refused"):
            made = given(sequence, bytes([number]))
            ours.note(made)
            if act != "refused":
                holder.admit(made, hidden=act == "hidden")
        elif act == "lie":
            lie = given(ours.last + 1, b"lie")
            ours.note(lie)
            holder.admit(given(sequence, b"truth"))
        elif act == "die":
            holder = holder.successor()
        else:
            said = last if act == "repeat" else ours.sign(KEY, ANNA, ours.last - number)
            last = said or last
            _hand_over(holder, said)

    coverage = holder.book.check()

    assert coverage.void == ()


def _hand_over(holder: Holder, said: Statement | None) -> None:
    if said is not None:
        with contextlib.suppress(StatementRefused, AskedTooOften):
            holder.take(said)


def test_a_statement_whose_signature_is_wrong_is_kept_and_counts_for_nothing(
    holder: Holder,
) -> None:
    holder.admit(given(1))
    holder.take(signed(given(1), by=BOT_KEY))

    assert holder.book.check().void == (1,)


def test_how_far_everybody_had_signed_can_be_taken_up() -> None:
    statements = Statements()

    statements.load([(ANNA, ClientId("c_one"), 7)])

    assert statements.signed_by(ANNA, ClientId("c_one")) == 7
    assert statements.signed_by(ANNA, ClientId("c_two")) == 0
