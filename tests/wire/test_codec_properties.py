import contextlib
import re
from typing import cast

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import inspect

from holdfast.model.errors import PeerError, leaves
from holdfast.model.ids import ClientId
from holdfast.wire.codec import KINDS, Message, decode, encode, error_from, refusal
from holdfast.wire.frames import Frame, FrameKind, FrameReader
from holdfast.wire.messages import Output, Refuse

UNICODE = st.characters(exclude_categories=["Cs"])


def texts(kind: inspect.StrType) -> st.SearchStrategy[str]:
    limit = kind.max_length
    assert limit is not None
    if kind.pattern is None:
        return st.text(UNICODE, max_size=limit)
    pattern = re.compile(kind.pattern.replace(r"$(?!\n)", r"\Z"))
    return st.from_regex(pattern, fullmatch=True).filter(
        lambda text: len(text) <= limit
    )


def values(kind: inspect.Type) -> st.SearchStrategy[object]:
    match kind:
        case inspect.Metadata():
            return values(kind.type)
        case inspect.IntType():
            return st.integers(kind.ge, kind.le)
        case inspect.StrType():
            return texts(kind)
        case inspect.BytesType():
            return st.binary(
                min_size=kind.min_length or 0, max_size=min(kind.max_length or 0, 300)
            )
        case inspect.EnumType():
            return st.sampled_from(list(kind.cls))
        case _:
            return others(kind)


def others(kind: inspect.Type) -> st.SearchStrategy[object]:
    match kind:
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.UnionType():
            return st.one_of([values(choice) for choice in kind.types])
        case inspect.VarTupleType():
            items = st.lists(
                values(kind.item_type), min_size=kind.min_length or 0, max_size=4
            )
            return items.map(tuple)
        case inspect.DictType():
            return st.dictionaries(
                values(kind.key_type), values(kind.value_type), max_size=4
            )
        case inspect.StructType():
            fields = {field.name: values(field.type) for field in kind.fields}
            return st.builds(kind.cls, **fields)
        case _:
            raise AssertionError(kind)


messages = st.one_of(
    [
        cast("st.SearchStrategy[Message]", values(inspect.type_info(shape)))
        for shape in KINDS.values()
    ]
).filter(lambda message: not isinstance(message, Output) or message.offset < 2**52)


def read(stream: bytes) -> Message:
    (frame,) = FrameReader().feed(stream)
    return decode(frame)


@given(messages)
def test_i1_what_is_written_is_what_is_read(message: Message) -> None:
    assert read(encode(message)) == message


@given(st.sampled_from(FrameKind), st.binary())
@example(FrameKind.DROP, b"\x80")
def test_i2_any_bytes_are_a_message_written_the_one_way_or_a_peer_error(
    kind: FrameKind, payload: bytes
) -> None:
    with contextlib.suppress(PeerError):
        assert encode(decode(Frame(kind, payload)))[5:] == payload


@given(messages, st.data())
def test_i1_i2_t65_a_changed_byte_is_another_message_or_none(
    message: Message, data: st.DataObject
) -> None:
    stream = bytearray(encode(message))
    place = data.draw(st.integers(5, max(5, len(stream) - 1)))
    stream[place] ^= data.draw(st.integers(1, 255))

    with contextlib.suppress(PeerError):
        assert read(bytes(stream)) != message


@given(messages, st.binary(min_size=1, max_size=8))
def test_t65_nothing_may_follow_a_message(message: Message, rest: bytes) -> None:
    stream = encode(message)
    kind, payload = FrameKind(stream[0]), stream[5:] + rest

    with contextlib.suppress(PeerError):
        assert isinstance(decode(Frame(kind, payload)), Output)


@given(messages, st.data())
def test_no_part_of_a_message_is_a_message(
    message: Message, data: st.DataObject
) -> None:
    stream = encode(message)
    end = data.draw(st.integers(5, len(stream) - 1))

    with contextlib.suppress(PeerError):
        part = decode(Frame(FrameKind(stream[0]), stream[5:end]))
        assert isinstance(part, Output)


facts = st.dictionaries(
    st.sampled_from(["self", "sentence", "kind", "session", "holder", "epoch"]),
    st.text(UNICODE, max_size=9) | st.integers(-9, 9),
)


@given(st.sampled_from([kind.code for kind in leaves()]), facts)
def test_any_refusal_becomes_an_error_and_can_be_passed_on(
    code: str, known: dict[str, str | int]
) -> None:
    refuse = Refuse(
        refused=0,
        client=ClientId(""),
        sequence=0,
        code=code,
        text="because",
        facts=known,
        retryable=False,
        next_step="",
    )

    error = error_from(refuse)

    assert isinstance(read(encode(refusal(error, FrameKind.ASK))), Refuse)
