import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.conformance.packed_form import Malformed, Value, packed, unpacked

VALUES: list[Value] = [
    None,
    True,
    False,
    0,
    127,
    128,
    255,
    256,
    65535,
    65536,
    2**53 - 1,
    -1,
    -32,
    -33,
    -129,
    -40000,
    -(2**40),
    "",
    "x" * 31,
    "x" * 32,
    "x" * 300,
    "x" * 70000,
    b"",
    b"x" * 300,
    b"x" * 70000,
    [],
    [1] * 15,
    [1] * 16,
    {},
    {"a": [None, {"b": b"c"}]},
    {str(number): number for number in range(20)},
]
some = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_written_as_another_writer_does(value: Value) -> None:
    raw = msgspec.msgpack.encode(value)

    assert packed(value) == raw
    assert unpacked(raw) == value


@given(some)
def test_properties_of_the_form_whatever_the_value(value: Value) -> None:
    assert packed(value) == msgspec.msgpack.encode(value)
    assert unpacked(packed(value)) == value


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xca\x00\x00\x00\x00",
        b"\xd4\x01\x05",
        b"\xc1",
        b"\x81\x05\x05",
        b"\xa2x",
        b"\xcd\x01",
        b"\xa1\xff",
        b"\x05\x05",
        b"\x91" * 40,
    ],
)
def test_what_is_no_value_of_the_wire_is_refused(raw: bytes) -> None:
    with pytest.raises(Malformed):
        unpacked(raw)


def test_what_is_too_large_cannot_be_written() -> None:
    with pytest.raises(Malformed):
        packed(2**64)
