import json
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.model.errors import (
    FrameTooLarge,
    HoldfastError,
    MalformedId,
    MalformedMessage,
    NotYourTurn,
    PeerError,
    StaleEpoch,
    UnknownFrameKind,
    UnwritableMessage,
)
from holdfast.model.ids import (
    ActorId,
    Epoch,
    Incarnation,
    SessionId,
    actor_id,
    client_id,
)
from holdfast.model.inputs import MAX_INPUT, InputId, InputKind
from holdfast.wire.codec import (
    KINDS,
    Message,
    around_key,
    decode,
    encode,
    error_from,
    lone_output,
    output_frame,
    refusal,
)
from holdfast.wire.frames import Frame, FrameKind, FrameReader
from holdfast.wire.messages import (
    MAX_NUMBER,
    MAX_OUTPUT,
    MAX_TEXT,
    Ask,
    Attach,
    Event,
    Give,
    Goodbye,
    Mode,
    Output,
    Ping,
    Refuse,
    Report,
    Submit,
)

VECTORS = Path(__file__).parent / "vectors"
CLIENT = client_id(bytes(10))
ANNA = actor_id(b"anna")
SESSION = SessionId("s_" + "a" * 16)


Vector = dict[str, Any]


def vectors(name: str) -> list[Any]:
    cases = json.loads((VECTORS / name).read_text("utf-8"))
    return [pytest.param(case, id=case["name"]) for case in cases]


def read(stream: bytes) -> Message:
    (frame,) = FrameReader().feed(stream)
    return decode(frame)


def submit(**changes: object) -> Submit:
    fields: dict[str, Any] = {
        "client": CLIENT,
        "sequence": 1,
        "kind": InputKind.KEYS,
        "incarnation": Incarnation(1),
        "epoch": Epoch(0),
        "payload": b"ls\r",
        "seen": 7,
        "waits": True,
    }
    return Submit(**fields | changes)


@pytest.mark.parametrize("vector", vectors("messages.json"))
def test_the_vectors_are_read_and_written_as_they_are(vector: Vector) -> None:
    stream = bytes.fromhex(vector["frame"])

    message = read(stream)

    assert type(message) is KINDS[FrameKind[vector["kind"]]]
    assert message.__struct_fields__ == tuple(vector["fields"])
    assert encode(message) == stream


def test_there_is_a_vector_of_every_kind() -> None:
    cases = json.loads((VECTORS / "messages.json").read_text("utf-8"))

    assert {case["kind"] for case in cases} == {kind.name for kind in FrameKind}


@pytest.mark.parametrize("vector", vectors("refused.json"))
def test_t65_h12_what_is_not_written_the_one_way_is_refused(vector: Vector) -> None:
    with pytest.raises(PeerError) as caught:
        read(bytes.fromhex(vector["frame"]))

    assert caught.value.code == vector["code"] == "malformed-message"


@pytest.mark.parametrize("vector", vectors("streams.json"))
def test_the_vectors_of_streams_come_to_the_same_frames(vector: Vector) -> None:
    stream = bytes.fromhex(vector["stream"])

    if "code" in vector:
        with pytest.raises(PeerError) as caught:
            FrameReader().feed(stream)
        assert caught.value.code == vector["code"]
    else:
        assert FrameReader().feed(stream) == [
            Frame(FrameKind[frame["kind"]], bytes.fromhex(frame["payload"]))
            for frame in vector["frames"]
        ]


def test_every_frame_kind_has_a_message_of_its_own() -> None:
    assert list(KINDS) == list(FrameKind)
    assert len(set(KINDS.values())) == len(KINDS)


def test_a_kind_that_carries_no_message_here_is_refused() -> None:
    keepers_own = cast("FrameKind", 0x80)

    with pytest.raises(UnknownFrameKind):
        decode(Frame(keepers_own, b"\x80"))


@pytest.mark.parametrize("epoch", [-1, MAX_NUMBER + 1, 2**63])
def test_h14_an_epoch_out_of_range_is_no_epoch(epoch: int) -> None:
    with pytest.raises(UnwritableMessage):
        encode(submit(epoch=epoch))


@pytest.mark.parametrize("epoch", [0, 1, 2**31, MAX_NUMBER])
def test_h14_every_epoch_in_range_travels(epoch: int) -> None:
    assert read(encode(submit(epoch=epoch))) == submit(epoch=epoch)


@pytest.mark.parametrize(
    "after", [b"\xff", b"\xd3" + b"\xff" * 8, b"\xcf\x80" + bytes(7)]
)
def test_h17_a_resume_offset_below_zero_or_of_2_to_the_63_is_refused(
    after: bytes,
) -> None:
    whole = encode(
        Attach(
            session=SESSION,
            client=CLIENT,
            mode=Mode.OBSERVE,
            size=None,
            incarnation=Incarnation(1),
            after=5,
            keyframe=False,
        )
    )
    (frame,) = FrameReader().feed(whole)
    written = frame.payload.replace(b"\xa5after\x05", b"\xa5after" + after)

    with pytest.raises(MalformedMessage):
        decode(Frame(FrameKind.ATTACH, written))


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_h11_a_digest_of_another_length_is_refused(size: int) -> None:
    payload = b"\x82\xa6ticket\x01\xa6digest\xc4" + bytes([size]) + bytes(size)

    with pytest.raises(MalformedMessage):
        decode(Frame(FrameKind.APPROVE, payload))


@pytest.mark.parametrize("depth", [100, 10_000, 200_000])
@pytest.mark.parametrize("opening", [b"\x81", b"\x91", b"\x81\xa1a"])
@pytest.mark.parametrize("before", [b"", b"\x81", b"\x88\xa5facts", b"\x81\xa1x"])
def test_h12_deep_nesting_is_refused(depth: int, opening: bytes, before: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(Frame(FrameKind.REFUSE, (before + opening * depth)[:262_144]))


def test_what_a_peer_wrote_is_shown_without_being_obeyed() -> None:
    with pytest.raises(MalformedMessage) as caught:
        decode(Frame(FrameKind.SEIZE, b"\x81\xa4halt\xa4\x1b[2J"))

    assert "\x1b" not in str(caught.value)
    assert "SEIZE" in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        submit(payload=bytes(MAX_INPUT + 1)),
        submit(client="c_nobody"),
        submit(kind="shout"),
        submit(payload=None),
        submit(sequence=0),
        submit(sequence=2**64),
        submit(payload=object()),
        Goodbye("over", "\udcff"),
        Goodbye("over", "x" * (MAX_TEXT + 1)),
        Give(ActorId("a_\n")),
        Ask(0),
        Ping(-1),
        Event("Turn", SessionId("s_" + "a" * 16), {}),
        Event("x", SessionId("s_" + "a" * 16), {"A": 1}),
        Output(0, b""),
        Output(-1, b"x"),
        Output(MAX_NUMBER, b"x"),
        Output(0, bytes(MAX_OUTPUT + 1)),
    ],
)
def test_i3_what_could_not_be_read_is_not_written(message: Message) -> None:
    with pytest.raises(UnwritableMessage):
        encode(message)


@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc"), memoryview(b"abc")])
def test_an_output_is_its_offset_and_its_bytes(
    data: bytes | bytearray | memoryview,
) -> None:
    assert output_frame(258, data) == b"\x14\0\0\0\x0b\0\0\0\0\0\0\x01\x02abc"


def test_the_largest_and_the_last_output_can_be_written_and_read() -> None:
    last = Output(MAX_NUMBER - MAX_OUTPUT, bytes(MAX_OUTPUT))

    assert read(encode(last)) == last


@pytest.mark.parametrize("size", [0, 7, 8, 9 + MAX_OUTPUT])
def test_h1_an_output_of_no_or_too_many_bytes_is_refused(size: int) -> None:
    with pytest.raises(MalformedMessage, match="OUTPUT"):
        decode(Frame(FrameKind.OUTPUT, bytes(size)))


def test_t60_frames_inside_an_output_are_output() -> None:
    printed = encode(Give(ANNA)) + encode(Output(5, b"x"))

    assert read(output_frame(0, printed)) == Output(0, printed)


def test_an_error_arrives_as_the_error_it_was() -> None:
    error = StaleEpoch(3, "anna", 4)

    refuse = read(encode(refusal(error, FrameKind.SUBMIT, InputId(CLIENT, 9))))

    assert isinstance(refuse, Refuse)
    assert (refuse.refused, refuse.client, refuse.sequence) == (0x20, CLIENT, 9)
    assert refuse.next_step == error.next_step
    again = error_from(refuse)
    assert type(again) is StaleEpoch
    assert (str(again), again.facts) == (str(error), error.facts)


def test_a_refusal_of_anything_but_an_input_is_about_no_input() -> None:
    refuse = refusal(NotYourTurn("", 1), FrameKind.GIVE)

    assert (refuse.refused, refuse.client, refuse.sequence) == (0x33, "", 0)
    assert not refuse.retryable


@pytest.mark.parametrize(
    "error",
    [
        MalformedId("x" * 5000, "session id"),
        MalformedId("\udcff\x1b", "session id"),
        FrameTooLarge(2**63, -(2**63)),
        HoldfastError.told("y" * 5000, {}),
    ],
    ids=lambda error: str(error)[:20],
)
def test_an_error_can_be_sent_whatever_it_holds(error: HoldfastError) -> None:
    refuse = read(encode(refusal(error, FrameKind.ATTACH)))

    assert isinstance(refuse, Refuse)
    assert refuse.code == error.code
    assert isinstance(error_from(refuse), HoldfastError)


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("not-yet-invented", {"sentence": "x", "self": 1}),
        ("not-your-turn", {"self": 1}),
        ("not-your-turn", {}),
        ("unknown-frame-kind", {"kind": "x"}),
    ],
)
def test_an_error_that_makes_no_sense_keeps_its_sentence(
    code: str, facts: dict[str, str | int]
) -> None:
    refuse = Refuse(
        refused=FrameKind.ASK,
        client=type(CLIENT)(""),
        sequence=0,
        code=code,
        text="because",
        facts=facts,
        retryable=False,
        next_step="",
    )

    error = error_from(refuse)

    assert type(error) is HoldfastError
    assert (str(error), error.facts) == ("because", facts)


def test_h16_a_report_of_more_than_an_input_holds_is_refused() -> None:
    good = read(encode(Report(CLIENT, 1, "cut", 0, MAX_INPUT)))  # type: ignore[arg-type]  # words are text

    assert isinstance(good, Report)
    with pytest.raises(UnwritableMessage):
        encode(Report(CLIENT, 1, good.outcome, good.index, MAX_INPUT + 1))


def typed(payload: bytes, seen: int | None) -> Submit:
    return Submit(
        client=CLIENT,
        sequence=70_000,
        kind=InputKind.KEYS,
        incarnation=Incarnation(1),
        epoch=Epoch(3),
        payload=payload,
        seen=seen,
        waits=False,
    )


@pytest.mark.parametrize("seen", [None, 0, 255, MAX_NUMBER])
def test_a_key_can_be_written_down_before_it_is_known(seen: int | None) -> None:
    before, after = around_key(typed(b"", seen))

    for key in range(256):
        assert before + bytes([key]) + after == encode(typed(bytes([key]), seen))


def test_output_that_comes_alone_is_known_as_such() -> None:
    alone = encode(Output(7, b"printed"))

    assert lone_output(alone) == Output(7, b"printed")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        encode(Output(7, b"printed"))[:-1],
        encode(Output(7, b"printed")) + b"x",
        encode(Output(7, b"printed")) * 2,
        output_frame(0, b"x")[:-1],
        encode(Ping(7)) + bytes(20),
        encode(typed(b"x", 3)),
        b"\x14\0\0\0\x09" + b"\xff" * 8 + b"x",
    ],
)
def test_nothing_else_is(raw: bytes) -> None:
    assert lone_output(raw) is None
