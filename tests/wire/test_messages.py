import re
from pathlib import Path
from typing import cast

import msgspec
import pytest
from msgspec import inspect

from holdfast.model import geometry, inputs, text
from holdfast.model.geometry import Size
from holdfast.model.ids import Epoch, Incarnation, actor_id, client_id
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import (
    evidence,
    frames,
    graphs,
    intents,
    messages,
    presence,
    screens,
    trials,
    versions,
)
from holdfast.wire.codec import KINDS, Message, decode, encode
from holdfast.wire.frames import (
    HEADER_SIZE,
    MAX_UNPROVEN_PAYLOAD,
    FrameKind,
    FrameReader,
)
from holdfast.wire.messages import (
    MAX_NUMBER,
    MAX_OUTPUT,
    Cells,
    Hello,
    Output,
    Submit,
    fitting,
)

SPEC = (Path(__file__).parents[2] / "docs/spec/wire.md").read_text()

LIMITS = {
    name: value
    for module in (
        presence,
        evidence,
        frames,
        graphs,
        intents,
        messages,
        screens,
        trials,
        versions,
        geometry,
        inputs,
        text,
    )
    for name, value in vars(module).items()
    if name.startswith("MAX_")
}

SAMPLES = ("s_" + "a" * 16, "c_" + "a" * 16, "a_" + "a" * 32)
WIDE = "\U0001f642"


def largest_text(kind: inspect.StrType, salt: int) -> str:
    assert kind.max_length is not None, "every text has a bound"
    if kind.pattern is None:
        return WIDE * kind.max_length
    salted = f"k{salt:0{kind.max_length - 1}d}"
    fits = [text for text in (*SAMPLES, salted) if re.search(kind.pattern, text)]
    return max(fits, key=len)[: kind.max_length]


def largest_number(kind: inspect.IntType) -> int:
    assert kind.ge is not None, "every number has a least"
    assert kind.le is not None, "every number has a greatest"
    return kind.le


def largest(kind: inspect.Type, salt: int = 0) -> object:
    match kind:
        case inspect.Metadata():
            return largest(kind.type)
        case inspect.IntType():
            return largest_number(kind)
        case inspect.StrType():
            return largest_text(kind, salt)
        case inspect.BytesType():
            assert kind.max_length is not None, "all bytes have a bound"
            return bytes(kind.max_length)
        case inspect.EnumType():
            return max(kind.cls, key=lambda member: len(member.value))
        case _:
            return largest_other(kind)


def largest_other(kind: inspect.Type) -> object:
    match kind:
        case inspect.BoolType():
            return True
        case inspect.NoneType():
            return None
        case inspect.UnionType():
            choices = [largest(choice) for choice in kind.types]
            return max(choices, key=lambda choice: len(msgspec.msgpack.encode(choice)))
        case inspect.VarTupleType():
            assert kind.max_length is not None, "every list has a bound"
            return (largest(kind.item_type),) * kind.max_length
        case inspect.DictType():
            assert kind.max_length is not None, "every map has a bound"
            value = largest(kind.value_type)
            return {
                largest(kind.key_type, salt): value for salt in range(kind.max_length)
            }
        case inspect.StructType():
            fields = {field.name: largest(field.type) for field in kind.fields}
            return kind.cls(**fields)
        case _:
            raise AssertionError(kind)


def largest_message(kind: FrameKind) -> Message:
    if kind is FrameKind.OUTPUT:  # its offset ends where its bytes do
        return Output(MAX_NUMBER - MAX_OUTPUT, bytes(MAX_OUTPUT))
    return cast("Message", largest(inspect.type_info(KINDS[kind])))


@pytest.mark.parametrize("kind", FrameKind)
def test_the_largest_message_of_each_kind_fits_one_frame(kind: FrameKind) -> None:
    message = largest_message(kind)

    (frame,) = FrameReader().feed(encode(message))

    assert decode(frame) == message


def test_the_largest_hello_fits_what_an_unproven_peer_may_send() -> None:
    hello = encode(largest_message(FrameKind.HELLO))

    assert len(hello) - HEADER_SIZE <= MAX_UNPROVEN_PAYLOAD


@pytest.mark.parametrize("kind", FrameKind)
def test_every_frame_kind_is_specified_with_its_fields(kind: FrameKind) -> None:
    names = KINDS[kind].__struct_fields__
    fields = ", ".join(f"`{name}`" for name in names) or "none"

    assert f"\n| 0x{kind:02x} | `{kind.name}` | {fields} |" in SPEC


def test_the_specification_has_no_frame_kind_too_many() -> None:
    assert len(re.findall(r"^\| 0x", SPEC, re.MULTILINE)) == len(FrameKind)


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_is_specified(name: str) -> None:
    assert f"\n| `{name}` | {LIMITS[name]} |" in SPEC


@pytest.mark.parametrize(
    "words",
    [
        messages.ClientKind,
        messages.Mode,
        messages.Halt,
        messages.Ending,
        InputKind,
        Verdict,
    ],
)
def test_every_word_of_a_list_is_specified(words: type[messages.Mode]) -> None:
    for word in words:
        assert f"`{word}`" in SPEC


def test_cells_are_a_size() -> None:
    assert Cells(80, 24).to_size() == Size(80, 24)


def test_a_submit_is_the_input_of_whoever_sent_it() -> None:
    client = client_id(bytes(10))
    actor = actor_id(b"key")
    submit = Submit(
        client=client,
        sequence=4,
        kind=InputKind.COMMAND,
        incarnation=Incarnation(2),
        epoch=Epoch(3),
        payload=b"make",
        seen=None,
        waits=True,
    )

    assert submit.to_input(actor) == Input(
        InputId(client, 4),
        actor,
        InputKind.COMMAND,
        Incarnation(2),
        Epoch(3),
        b"make",
    )


def test_a_hello_from_a_kind_of_client_nobody_knows_yet_is_taken() -> None:
    hello = Hello((1,), "someday", "fridge")

    (frame,) = FrameReader().feed(encode(hello))

    assert decode(frame) == hello


@pytest.mark.parametrize(
    ("given", "fitted"),
    [("abc", "abc"), ("abcdef", "abcd"), ("\udcff", "\\udc"), (WIDE * 5, WIDE * 4)],
)
def test_any_text_can_be_made_to_fit(given: str, fitted: str) -> None:
    assert fitting(given, 4) == fitted
