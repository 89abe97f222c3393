import pytest
from tests.core.signing import ANNA, CLIENT, EPOCH, KEY, LIFE, SECRET, SESSION, given

from holdfast.core.input.commitments import SentInputs, content, numbered
from holdfast.core.input.input_chain import InputChain
from holdfast.model.ids import Epoch
from holdfast.wire.signatures import Sign


def test_a_statement_has_the_fields_of_the_message() -> None:
    ours, ordinary = (
        kind(SESSION, CLIENT, SECRET) for kind in (SentInputs, InputChain)
    )
    made = given(1)
    ours.note_next(made.incarnation, made.epoch, made.kind, made.payload)
    assert isinstance(ordinary, InputChain)
    ordinary.note(made)

    fields = ours.statement(KEY, ANNA, 1)
    signed = ordinary.sign(KEY, ANNA, 1)

    assert fields is not None
    assert signed is not None
    assert Sign(**fields) == signed.to_message()  # type: ignore[arg-type]


def test_nothing_sent_is_nothing_to_sign() -> None:
    assert SentInputs(SESSION, CLIENT, SECRET).statement(KEY, ANNA, 1) is None


def test_what_nobody_counts_is_forgotten() -> None:
    ours = SentInputs(SESSION, CLIENT, SECRET)
    for _ in range(3):
        ours.note_next(LIFE, EPOCH, "keys", b"x")
    ours.forget_from(2)

    assert (ours.signed, ours.last) == (0, 1)


def test_a_number_that_nobody_can_mean_is_none() -> None:
    for number in (-1, 2**64):
        with pytest.raises(OverflowError):
            numbered(number)
    with pytest.raises(OverflowError):
        content(LIFE, Epoch(-1), "keys", b"")
