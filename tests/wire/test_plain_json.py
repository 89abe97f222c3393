"""I1 and I2 of plain_json: what is written and read is what `json` writes and reads."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire import plain_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)

ODD = [
    *("", " ", "nul", "[1", "[1,]", '{"a"}', '{"a": 1', '"\n"', '"\\x"', "1 2", "[] x"),
    *("\ufeff1", "+1", "01", "'a'", "{1: 2}", '"a', "--1"),
]
READ = [
    *(" [1, 2.5e3, -0] \n", '{"a" : {"a": []}, "a": 1}', '"\\ud83d\\ude00\\udc80"'),
    *("NaN", "-Infinity", "[Infinity]", "1E400", '"\u2028"'),
]


@given(VALUES)
def test_i1_what_is_written_is_what_json_writes(value: object) -> None:
    assert plain_json.dumps(value) == json.dumps(value)
    assert plain_json.dumps(value, sort_keys=True) == json.dumps(value, sort_keys=True)
    assert plain_json.loads(plain_json.dumps(value).encode()) == value


def test_words_that_are_not_utf8_are_written_as_json_writes_them() -> None:
    word = b"\xff\xfe".decode("utf-8", "surrogateescape")

    assert plain_json.dumps((word, True)) == json.dumps((word, True))


@pytest.mark.parametrize("value", [1.5, b"x", {1: 2}, [object()], {"a": {3}}])
def test_what_no_packet_holds_is_not_written(value: object) -> None:
    with pytest.raises(TypeError):
        plain_json.dumps(value)


@pytest.mark.parametrize("text", READ)
def test_i2_what_is_read_is_what_json_reads(text: str) -> None:
    assert repr(plain_json.loads(text)) == repr(json.loads(text))
    assert repr(plain_json.loads(text.encode())) == repr(json.loads(text.encode()))


@pytest.mark.parametrize("text", ODD)
def test_i2_what_json_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the two differ in their words
        json.loads(text)
    with pytest.raises(ValueError):  # noqa: PT011  # ditto
        plain_json.loads(text)


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_i2_whatever_the_bytes_both_read_the_same_or_neither(raw: bytes) -> None:
    try:
        found = plain_json.loads(raw)
    except ValueError:
        return
    assert repr(found) == repr(json.loads(raw))


def test_what_is_too_deep_is_refused_as_json_refuses_it() -> None:
    with pytest.raises(RecursionError):
        plain_json.loads("[" * 200_000)
