import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.model.errors import MalformedMessage, PeerError
from holdfast.wire.lines import Record, decode_line, encode_line

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
integers = st.integers() | st.integers(-(2**70), 2**70)
records = st.dictionaries(texts, texts | integers | st.booleans() | st.none())


@given(records)
def test_what_was_written_is_read_again(record: Record) -> None:
    decoded = decode_line(encode_line(record))

    assert decoded == record
    assert list(decoded) == list(record)
    assert [type(value) for value in decoded.values()] == [
        type(value) for value in record.values()
    ]


@given(records)
def test_a_line_has_no_newline_and_ordinary_tools_can_read_it(record: Record) -> None:
    line = encode_line(record)

    assert b"\n" not in line
    assert b"\r" not in line
    assert json.loads(line) == record


@given(st.binary() | records.map(encode_line))
@example(b"")
@example(b"null")
@example(b"[]")
@example(b"\xef\xbb\xbf{}")
@example(b'{"a":1e400}')
@example(b'{"a":' + b"9" * 4299 + b"}")
@example(b'{"a":' + b"9" * 5000 + b"}")
@example(b'{"a":' * 100_000)
@example(b"[" * 100_000)
@example(b'{"a":"\\udc00"}')
def test_any_bytes_are_a_record_in_the_one_spelling_or_a_peer_error(
    line: bytes,
) -> None:
    with contextlib.suppress(PeerError):
        assert encode_line(decode_line(line)) == line


@given(records.map(encode_line), st.data())
def test_no_two_lines_mean_the_same(line: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    inserted = line[:at] + data.draw(st.sampled_from([b" ", b"\t", b"\n", b"0"]))
    other = inserted + line[at:]

    with contextlib.suppress(PeerError):
        assert decode_line(other) != decode_line(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"a":1,"b":2,"a":1}',
        b'{"a": 1}',
        b' {"a":1}',
        b'{"a":1}\n',
        b'{"a":1}{}',
        b'{"a":1,}',
        b'{"\\u0061":1}',
        b'{"a":"\\/"}',
        b'{"a":"\\u00e9"}',
        b'{"a":"\\u000a"}',
        b'{"a":"\\ud83d\\ude00"}',
        b'{"a":-0}',
        b'{"a":01}',
    ],
)
def test_another_spelling_of_a_record_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_line(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1.0}',
        b'{"a":1e2}',
        b'{"a":1e400}',
        b'{"a":NaN}',
        b'{"a":[]}',
        b'{"a":{}}',
        b'["a",1]',
        b'"a"',
        b"1",
        b"true",
        b"{1:1}",
        b"{null:1}",
    ],
)
def test_floats_nesting_and_what_is_no_object_are_refused(line: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_line(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":"\xff"}',
        b'{"\xc3":1}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\\ud800"}',
        b'{"a":"\\udc00x"}',
        b'{"a":"\\ud800\\ud800"}',
        b'{"a":"\x00"}',
        b'{"a":"\x1b[2J"}',
    ],
)
def test_text_that_is_not_text_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_line(line)
