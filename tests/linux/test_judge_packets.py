import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.policy.policy import Judgement
from holdfast.core.policy.rules import Webhook
from holdfast.linux.judge_packets import MAX_PACKET, MAX_TIMEOUT, Answer, Ask
from holdfast.model.errors import PeerError
from holdfast.model.inputs import MAX_INPUT
from holdfast.model.verdicts import Verdict

HOOK = Webhook("https://x/", 0.5)


def test_a_question_is_read_as_it_was_written() -> None:
    for hook in (None, HOOK):
        ask = Ask(3, {"cwd": "/\udcff", "more": [1]}, ("one", "two"), hook, 1.5)

        assert Ask.from_bytes(ask.to_bytes()) == ask


@pytest.mark.parametrize(
    "answer",
    [
        Answer(1, Judgement(Verdict.ASK, "r", "w")),
        Answer(2),
        Answer(3, failed="hung"),
    ],
)
def test_an_answer_is_read_as_it_was_written(answer: Answer) -> None:
    assert Answer.from_bytes(answer.to_bytes()) == answer


def test_what_others_named_is_shown_and_not_obeyed() -> None:
    told = Answer(1, Judgement(Verdict.DENY, "\x1b[2J", "w" * 5000))

    read = Answer.from_bytes(told.to_bytes()).judgement

    assert read is not None
    assert read.rule == "\\x1b[2J"
    assert len(read.why) < 300


def test_nobody_waits_longer_than_the_gate() -> None:
    assert Ask.from_bytes(Ask(1, {}, timeout=99).to_bytes()).timeout == MAX_TIMEOUT
    assert Ask.from_bytes(Ask(1, {}, timeout=-1).to_bytes()).timeout == 0


def test_the_largest_input_fits_one_packet() -> None:
    whole = {"payload": "A" * (MAX_INPUT * 4 // 3 + 4), "text": "\\" * 4096}

    assert len(Ask(1, {**whole, "staged": "A" * 6000}).to_bytes()) < MAX_PACKET


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"x",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"ticket":1,"question":[],"plugins":[],"webhook":null,"timeout":1}',
        b'{"ticket":1,"question":{},"plugins":[1],"webhook":null,"timeout":1}',
        b'{"ticket":1,"question":{},"plugins":[],"webhook":1,"timeout":1}',
        b'{"ticket":1,"question":{},"plugins":[],"webhook":{},"timeout":1}',
        b'{"ticket":1,"verdict":"yes","rule":"","why":""}',
        b'{"ticket":"1","verdict":null}',
    ],
)
def test_anything_else_is_refused(raw: bytes) -> None:
    with pytest.raises(PeerError):
        Ask.from_bytes(raw)
    with pytest.raises(PeerError):
        Answer.from_bytes(raw)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(raw: bytes) -> None:
    for kind in (Ask, Answer):
        with pytest.raises(PeerError):
            kind.from_bytes(raw)
