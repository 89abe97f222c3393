import os
from pathlib import Path

import pytest
from tests.core.signing import ANNA, CLIENT, KEY, SESSION, Book, given

from holdfast.client import current_operator
from holdfast.core.client.signing import (
    CADENCE,
    MAX_LINKS,
    MAX_UNSIGNED,
    Pen,
    Signing,
)
from holdfast.core.input.input_chain import Statement
from holdfast.crypto.identity import Identity
from holdfast.crypto.rotation import ROTATION, rotate
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ClientId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import Submit
from holdfast.wire.signatures import Sign, Signed

PEN = Pen(KEY, ANNA)


def typed(sequence: int) -> Submit:
    return given(sequence, b"k", kind=InputKind.KEYS)


def signing_of(*made: Submit) -> Signing:
    signing = Signing(SESSION, CLIENT, bytes(32))
    for one in made:
        signing.note(one)
        signing.booked(one.sequence)
    return signing


def sent(signing: Signing) -> Sign:
    said = signing.sign(PEN)
    assert said is not None
    return said


def test_a_command_is_signed_at_once_and_keys_after_a_second() -> None:
    command, keys = signing_of(given(1)), signing_of(typed(1))

    assert command.wait(10) == 0
    assert keys.wait(10) == CADENCE
    assert keys.wait(10 + CADENCE) == 0
    assert keys.wait(99) == 0


def test_a_command_does_not_wait_for_keys_nor_keys_for_the_next_command() -> None:
    signing = signing_of(given(1), typed(2))
    assert signing.wait(10) == 0

    sent(signing)
    signing.confirmed(Signed(CLIENT, 2))
    signing.note(typed(3))
    signing.booked(3)

    assert signing.wait(10) == CADENCE


def test_nothing_sent_needs_no_signature() -> None:
    signing = signing_of()

    assert signing.is_done
    assert signing.wait(0) is None
    assert signing.sign(PEN) is None
    assert signing.again() is None


def test_i1_only_what_the_book_has_is_signed_and_all_before_it() -> None:
    signing = Signing(SESSION, CLIENT, bytes(32))
    for number in range(1, 5):
        signing.note(given(number))
    signing.booked(3)
    said = sent(signing)

    assert said.last == 3
    assert len(said.steps) == 3 * 48
    signing.confirmed(Signed(CLIENT, 3))
    assert signing.is_done


def test_i1_an_answer_to_what_was_never_sent_is_no_reason_to_sign() -> None:
    signing = signing_of()
    signing.booked(7)

    assert signing.is_done


def test_i1_what_nobody_counts_is_not_signed() -> None:
    signing = signing_of(given(1))
    signing.note(given(2, b"refused\r"))
    signing.note(given(3, b"refused\r"))
    signing.counted_from(2)
    signing.note(given(2, b"taken\r"))
    signing.booked(2)
    book = Book()
    book.admit(given(1))
    book.admit(given(2, b"taken\r"))
    book.keep(Statement.from_message(ANNA, sent(signing)))

    assert book.check().signed == 2


def test_i1_what_takes_the_place_of_what_was_lost_waits_for_its_own_answer() -> None:
    signing = signing_of(given(1), given(2))
    signing.counted_from(2)
    signing.note(given(2, b"another\r"))

    assert sent(signing).last == 1


def test_one_statement_is_on_its_way_at_a_time() -> None:
    signing = signing_of(given(1))
    sent(signing)
    signing.note(given(2))
    signing.booked(2)

    assert signing.is_awaited
    assert signing.wait(0) is None
    assert signing.sign(PEN) is None
    signing.confirmed(Signed(CLIENT, 1))
    assert (signing.is_awaited, signing.wait(0)) == (False, 0)
    assert sent(signing).last == 2


def test_i2_a_statement_is_sent_again_unchanged_until_it_is_confirmed() -> None:
    signing = signing_of(given(1))
    said = sent(signing)
    signing.confirmed(Signed(ClientId("c_" + "b" * 16), 1))
    signing.confirmed(Signed(CLIENT, 0))

    assert signing.again() == said
    assert signing.is_awaited
    signing.confirmed(Signed(CLIENT, 1))
    signing.confirmed(Signed(CLIENT, 1))
    assert signing.again() is None


def test_i2_what_came_too_often_is_sent_again_after_a_second() -> None:
    signing = signing_of(given(1))
    said = sent(signing)
    signing.refused("asked-too-often")

    signing.note(given(2))
    signing.booked(2)

    assert signing.is_put_off
    assert signing.wait(5) == CADENCE
    assert signing.sign(PEN) == said
    assert not signing.is_put_off


def test_i3_after_a_refusal_nothing_more_is_signed() -> None:
    signing = signing_of(given(1))
    sent(signing)
    signing.note(given(2))
    signing.booked(2)
    signing.refused("statement-refused")
    signing.note(given(7))
    signing.counted_from(1)

    assert signing.is_done
    assert signing.sign(PEN) is None


def test_i3_a_holder_that_has_forgotten_us_is_sent_no_more() -> None:
    signing = signing_of(given(1))
    sent(signing)
    signing.counted_from(1)

    assert signing.is_done


def test_i3_a_holder_that_hangs_up_on_statements_is_sent_no_more() -> None:
    signing = signing_of(given(1))
    sent(signing)

    assert [signing.again() is not None for _ in range(MAX_LINKS)] == [
        *[True] * (MAX_LINKS - 1),
        False,
    ]
    assert signing.is_done
    assert not signing.is_awaited


def test_i2_on_a_new_link_what_was_put_off_is_on_its_way_again() -> None:
    signing = signing_of(given(1))
    said = sent(signing)
    signing.refused("asked-too-often")

    assert signing.again() == said
    assert signing.is_awaited


def test_i3_what_waits_to_be_signed_is_bounded() -> None:
    signing = Signing(SESSION, CLIENT, bytes(32))
    for number in range(1, MAX_UNSIGNED + 2):
        signing.note(typed(number))
    signing.booked(MAX_UNSIGNED)

    assert signing.is_done


def test_i3_what_is_signed_waits_no_longer() -> None:
    half = MAX_UNSIGNED // 2 + 1
    signing = signing_of(*map(typed, range(1, half + 1)))
    sent(signing)
    signing.confirmed(Signed(CLIENT, half))
    for number in range(half + 1, 2 * half + 1):
        signing.note(typed(number))
    signing.booked(2 * half)

    assert not signing.is_done


def test_whoever_has_no_key_here_signs_nothing() -> None:
    signing = signing_of(given(1))

    assert signing.sign(None) is None
    assert signing.is_done
    assert not signing.is_awaited


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path


@pytest.mark.usefixtures("home")
def test_an_operator_at_home_signs_with_its_own_key() -> None:
    us = current_operator.enrol("anna", ActorKind.HUMAN)

    pen = current_operator.pen_of(us, us.actor.id)

    assert pen is not None
    assert (actor_id(pen.key.public), pen.rotations) == (us.actor.id, b"")


@pytest.mark.usefixtures("home")
def test_an_operator_that_is_at_home_elsewhere_signs_nothing() -> None:
    us = operators.enrol("anna", ActorKind.HUMAN, KEY.public, None, bytes(32))

    assert current_operator.pen_of(us, us.actor.id) is None


@pytest.mark.usefixtures("home")
def test_a_rotated_key_says_whose_place_it_took() -> None:
    us = current_operator.enrol("anna", ActorKind.HUMAN)
    seed = os.urandom(32)
    turn = rotate(Identity.from_seed(us.seed()), Identity.from_seed(seed)).to_bytes()
    now = operators.rotate(us, turn[32:64], turn, seed)
    book, signing = Book(), signing_of(given(1))
    book.admit(given(1), us.actor.id)

    pen = current_operator.pen_of(now, us.actor.id)

    assert pen is not None
    assert len(pen.rotations) == ROTATION
    book.keep(Statement.from_message(us.actor.id, sent_with(signing, pen)))
    assert book.check().signed == 1
    Path(now.folder, "rotation-1").unlink()
    assert current_operator.pen_of(now, us.actor.id) is None


def sent_with(signing: Signing, pen: Pen) -> Sign:
    said = signing.sign(pen)
    assert said is not None
    return said
