import msgspec
import pytest
from tests.core.capsule.image_samples import WHOLE

from holdfast.model.errors import MalformedMessage, UnwritableMessage
from holdfast.wire.image_manifest import decode_manifest, encode_manifest, version_of
from holdfast.wire.messages import MAX_NUMBER

WRITTEN = encode_manifest(WHOLE)


def changed(**fields: object) -> bytes:
    plain = msgspec.json.decode(WRITTEN)
    return msgspec.json.encode({**plain, **fields})


def test_what_was_written_is_read() -> None:
    assert decode_manifest(WRITTEN) == WHOLE
    assert version_of(WRITTEN) == 1


def test_every_field_is_written_every_time() -> None:
    plain = msgspec.json.decode(WRITTEN)

    for name in plain:
        less = {one: value for one, value in plain.items() if one != name}
        with pytest.raises(MalformedMessage, match=f"missing required field `{name}`"):
            decode_manifest(msgspec.json.encode(less))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 2),
        ("session", "s_../../../../x"),
        ("session", "s_" + "a" * 16 + "\n"),
        ("incarnation", 0),
        ("incarnation", -1),
        ("number", 0),
        ("number", MAX_NUMBER + 1),
        ("number", 1.5),
        ("label", "x" * 65),
        ("kind", "half"),
        ("once", 1),
        ("log_index", -1),
        ("log_hash", "AA=="),
        ("files", []),
        ("files", {}),
        ("files", [{"name": "", "size": 1, "digest": "A" * 43 + "="}]),
        ("starters", [{"pid": 0, "actor": "a_" + "b" * 32}]),
        ("mapped", [{"path": "/x", "size": 1, "build_id": "abc"}]),
        ("more", "of it"),
    ],
)
def test_a_field_out_of_its_bounds_is_refused(field: str, value: object) -> None:
    with pytest.raises(MalformedMessage):
        decode_manifest(changed(**{field: value}))


@pytest.mark.parametrize(
    "written",
    [
        WRITTEN + b"\n",
        b" " + WRITTEN,
        WRITTEN.replace(b'"number":7', b'"number":7,"number":7'),
        WRITTEN.replace(b'"number":7,', b"").replace(b"{", b'{"number":7,', 1),
        WRITTEN.replace(b"before", b"\\u0062efore"),
    ],
    ids=["a line end", "a space", "twice", "another order", "escaped"],
)
def test_there_is_one_way_to_write_it(written: bytes) -> None:
    assert written != WRITTEN

    with pytest.raises(MalformedMessage, match="the one way"):
        decode_manifest(written)


@pytest.mark.parametrize(
    "written", [b"", b"[]", b"{}", b'{"version":"1"}', b"[" * 10_000]
)
def test_what_has_no_version_is_no_manifest(written: bytes) -> None:
    with pytest.raises(MalformedMessage):
        version_of(written)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(MalformedMessage):
        decode_manifest(WRITTEN.replace(b"before", b"\\ud800"))


def test_a_manifest_that_nobody_could_read_is_not_written() -> None:
    with pytest.raises(UnwritableMessage):
        encode_manifest(msgspec.structs.replace(WHOLE, number=0))
