import msgspec
import pytest

from holdfast.model.errors import MalformedMessage, UnwritableMessage
from holdfast.wire.canonical_form import CanonicalForm


class Word(msgspec.Struct, frozen=True, tag="word"):
    number: int


WORDS: CanonicalForm[Word] = CanonicalForm("word", msgspec.msgpack.Decoder(Word), 64)


def test_what_is_written_is_read_again() -> None:
    assert WORDS.decode(WORDS.encode(Word(7))) == Word(7)


@pytest.mark.parametrize("number", ["seven", 2**70])
def test_what_nobody_could_read_is_not_written(number: object) -> None:
    with pytest.raises(UnwritableMessage):
        WORDS.encode(Word(number))  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"type": "word"}),
        # The same message with a longer form of its number.
        msgspec.msgpack.encode(Word(7)).replace(b"\x07", b"\xcc\x07"),
        msgspec.msgpack.encode({"number": 7, "type": "word"}),
    ],
)
def test_what_is_not_written_the_one_way_is_refused(written: bytes) -> None:
    with pytest.raises(MalformedMessage):
        WORDS.decode(written)


def test_what_is_longer_than_it_may_be_is_not_even_looked_at() -> None:
    with pytest.raises(MalformedMessage, match="of 65 bytes"):
        WORDS.decode(bytes(65))
    with pytest.raises(MalformedMessage, match="of 9 bytes"):
        WORDS.decode(bytes(9), 8)
    written = WORDS.encode(Word(7))
    assert WORDS.decode(written, len(written)) == Word(7)
    with pytest.raises(MalformedMessage, match="bytes"):
        WORDS.decode(written, len(written) - 1)
