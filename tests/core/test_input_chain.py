import base64
from collections.abc import Callable
from dataclasses import replace

import pytest

from holdfast.core.entries import input_fields
from holdfast.core.input_chain import (
    HIDDEN,
    MAX_SIGNED,
    Coverage,
    InputChain,
    Statement,
    check_inputs,
    commitment,
    without_salts,
)
from holdfast.core.logbook import Entry, EntryKind, Logbook, genesis, read_entries
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import LogTampered
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    SessionId,
    actor_id,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.wire.lines import Value

SESSION = SessionId("s_" + "a" * 16)
OTHER_SESSION = SessionId("s_" + "b" * 16)
KEY = SigningKey.from_seed(bytes(range(32)))
BOT_KEY = SigningKey.from_seed(bytes(range(1, 33)))
ANNA, BOT = actor_id(KEY.public), actor_id(BOT_KEY.public)
CLIENT, OTHER_CLIENT = ClientId("c_" + "a" * 16), ClientId("c_" + "b" * 16)
SECRET = b"known to the client alone"
LIFE, EPOCH = Incarnation(1), Epoch(3)
Fields = dict[str, Value]


def given(sequence: int, payload: bytes = b"make\r", actor: ActorId = ANNA) -> Input:
    ident = InputId(CLIENT, sequence)
    return Input(ident, actor, InputKind.COMMAND, LIFE, EPOCH, payload)


class Book:
    """A logbook as a host writes it, honest or not."""

    def __init__(self) -> None:
        self._book = Logbook(genesis(SESSION))
        self._lines: list[bytes] = []

    def write(self, kind: EntryKind, fields: Fields, epoch: Epoch = EPOCH) -> None:
        entry = self._book.draft(kind, fields, LIFE, epoch, 0)
        self._book.commit(entry)
        self._lines.append(entry.line)

    def admit(self, one: Input, *, hidden: bool = False) -> None:
        secret = b"of the holder" if hidden else None
        self.write(EntryKind.INPUT, input_fields(one, "rule", None, secret))

    def keep(self, statement: Statement | None) -> None:
        assert statement is not None
        self.write(EntryKind.SIGNED, statement.to_fields())

    def entries(self) -> list[Entry]:
        return list(read_entries(self._lines, SESSION))

    def check(self) -> Coverage:
        return check_inputs(self.entries(), SESSION)


def chain(actor: ActorId = ANNA) -> InputChain:
    return InputChain(SESSION, actor, CLIENT, SECRET)


def signed(count: int, *payloads: bytes) -> Statement:
    made = chain()
    for number in range(1, count + 1):
        payload = payloads[number - 1] if payloads else b"make\r"
        made.note(given(number, payload))
    statement = made.sign(KEY)
    assert statement is not None
    return statement


def chain_of_one() -> InputChain:
    made = chain()
    made.note(given(1))
    return made


def test_i1_what_was_noted_and_signed_is_found_signed() -> None:
    book, ours = Book(), chain()
    for number in range(1, 6):
        ours.note(given(number))
        book.admit(given(number))
        if number in (2, 5):
            book.keep(ours.sign(KEY))

    assert book.check() == Coverage(signed=5)
    assert ours.unsigned == 0


def test_nothing_noted_needs_no_statement() -> None:
    assert chain().sign(KEY) is None


def test_inputs_that_were_refused_leave_no_hole() -> None:
    book = Book()
    book.admit(given(1))
    book.admit(given(3))
    book.keep(signed(3))

    assert book.check() == Coverage(signed=2)


def test_what_no_statement_speaks_of_is_listed() -> None:
    book = Book()
    book.admit(given(1))
    book.keep(signed(1))
    book.admit(given(2))
    book.write(EntryKind.DETACHED, {"actor": ANNA, "client": CLIENT})

    assert book.check() == Coverage(signed=1, unsigned=(2,))


@pytest.mark.parametrize(
    "forge",
    [
        lambda one: replace(one, payload=b"rm -r /\r"),
        lambda one: replace(one, kind=InputKind.KEYS),
        lambda one: replace(one, actor=BOT),
    ],
)
def test_i2_t35_an_input_that_its_operator_did_not_make_shows(
    forge: Callable[[Input], Input],
) -> None:
    book = Book()
    book.admit(forge(given(1)))
    book.keep(signed(1))

    with pytest.raises(LogTampered):
        book.check()


def test_i2_t35_an_input_made_under_another_epoch_shows() -> None:
    book = Book()
    fields = input_fields(given(1), "rule", None, None)
    book.write(EntryKind.INPUT, fields, Epoch(EPOCH - 1))
    book.keep(signed(1))

    with pytest.raises(LogTampered, match="another input"):
        book.check()


def test_i2_t35_an_input_of_another_client_or_sequence_is_not_signed() -> None:
    book = Book()
    stolen = replace(given(1), id=InputId(OTHER_CLIENT, 1))
    book.admit(stolen)
    book.admit(given(7))
    book.keep(signed(1))

    assert book.check() == Coverage(unsigned=(0, 1))


def test_i2_a_statement_is_for_one_session_only() -> None:
    ours = InputChain(OTHER_SESSION, ANNA, CLIENT, SECRET)
    ours.note(given(1))
    book = Book()
    book.keep(ours.sign(KEY))

    with pytest.raises(LogTampered, match="not signed"):
        book.check()


@pytest.mark.parametrize("missing", [0, 1])
def test_i3_a_statement_that_is_missing_or_moved_shows(missing: int) -> None:
    ours = chain()
    statements = []
    for number in range(1, 4):
        ours.note(given(number))
        statements.append(ours.sign(KEY))
    left_out, moved = Book(), Book()
    for statement in statements[:missing] + statements[missing + 1 :]:
        left_out.keep(statement)
    for statement in (statements[1], statements[0]):
        moved.keep(statement)

    with pytest.raises(LogTampered, match="missing"):
        left_out.check()
    with pytest.raises(LogTampered, match="missing"):
        moved.check()


def test_i3_a_statement_by_another_key_shows() -> None:
    made = signed(1)
    stranger = SigningKey.from_seed(bytes(32))
    book, unknown = Book(), Book()
    book.keep(chain_of_one().sign(stranger))
    unknown.keep(replace(made, actor=ActorId("a_" + "c" * 32)))

    with pytest.raises(LogTampered, match="not signed"):
        book.check()
    with pytest.raises(LogTampered, match="not signed"):
        unknown.check()


def test_a_key_that_took_the_first_ones_place_signs_as_well() -> None:
    book = Book()
    book.admit(given(1))
    book.keep(chain_of_one().sign(BOT_KEY))
    rotated = {ANNA: [BOT_KEY.public]}

    found = check_inputs(book.entries(), SESSION, lambda actor: rotated[actor])

    assert found == Coverage(signed=1)
    with pytest.raises(LogTampered, match="not signed"):
        book.check()


def test_i3_a_changed_commitment_shows() -> None:
    made = signed(2)
    steps = (made.steps[0], replace(made.steps[1], commitment=bytes(32)))
    book = Book()
    book.keep(replace(made, steps=steps))

    with pytest.raises(LogTampered, match="not signed"):
        book.check()


def test_i4_a_hidden_payload_cannot_be_tried_out() -> None:
    passwords = [b"hunter2\r", b"secret\r"]
    kept = without_salts(signed(2, b"sudo ls\r", passwords[0]), hidden=[2])
    book = Book()
    book.admit(given(1, b"sudo ls\r"))
    book.admit(given(2, passwords[0]), hidden=True)
    book.keep(kept)

    assert book.check() == Coverage(signed=1, hidden=1)
    assert kept.steps[1].salt == HIDDEN
    for guess in passwords:
        tried = commitment(HIDDEN, LIFE, EPOCH, InputKind.COMMAND, guess)
        assert tried != kept.steps[1].commitment


def test_a_host_that_leaves_out_the_salt_of_a_shown_payload_is_found_out() -> None:
    book = Book()
    book.admit(given(1))
    book.keep(without_salts(signed(1), hidden=[1]))

    with pytest.raises(LogTampered, match="another input"):
        book.check()


def test_two_clients_that_send_the_same_have_no_salt_in_common() -> None:
    one, other = chain(), InputChain(SESSION, ANNA, CLIENT, b"another secret")
    one.note(given(1))
    other.note(given(1))

    first, second = one.sign(KEY), other.sign(KEY)

    assert first is not None
    assert second is not None
    assert first.steps[0] != second.steps[0]
    assert repr(first.steps[0].salt) not in repr(first)


def test_a_statement_is_due_before_there_are_too_many_inputs() -> None:
    ours = chain()
    for number in range(1, MAX_SIGNED + 1):
        ours.note(given(number))

    assert ours.unsigned == MAX_SIGNED
    with pytest.raises(AssertionError):
        ours.note(given(MAX_SIGNED + 1))
    with pytest.raises(AssertionError):
        chain().note(given(2))


GOOD: Fields = signed(1).to_fields()
STEP = bytes(48)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": ""},
        {"steps": "#"},
        {"steps": base64.b64encode(STEP[1:]).decode()},
        {"steps": base64.b64encode(STEP * (MAX_SIGNED + 1)).decode()},
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
        book.check()


def test_a_statement_is_read_from_its_entry_as_it_was_made() -> None:
    book = Book()
    made = signed(3)
    book.keep(made)

    assert Statement.from_entry(book.entries()[0]) == made


@pytest.mark.parametrize("odd", [{}, {"client": CLIENT, "sequence": "1"}])
def test_an_input_without_a_number_is_signed_by_nobody(odd: Fields) -> None:
    book = Book()
    book.write(EntryKind.INPUT, odd)

    assert book.check() == Coverage(unsigned=(0,))


def test_an_input_whose_payload_cannot_be_read_is_not_the_one_signed() -> None:
    book = Book()
    whole = input_fields(given(1), "rule", None, None)
    book.write(EntryKind.INPUT, whole | {"data": "#"})
    book.keep(signed(1))

    with pytest.raises(LogTampered, match="another input"):
        book.check()
