import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.crypto.fingerprints import short_fingerprint, spoken_fingerprint
from holdfast.crypto.words import WORDS
from holdfast.model.errors import MalformedKey
from holdfast.model.ids import actor_id, host_id

keys = st.binary(min_size=32, max_size=32)


@given(keys)
def test_the_short_one_is_the_beginning_of_the_id(public: bytes) -> None:
    letters = short_fingerprint(public).replace("-", "")

    assert len(letters) == 16
    assert actor_id(public).startswith("a_" + letters)
    assert host_id(public).startswith("h_" + letters)


@given(keys)
def test_the_spoken_one_is_eight_words_of_the_list(public: bytes) -> None:
    words = spoken_fingerprint(public).split()

    assert len(words) == 8
    assert set(words) <= set(WORDS)


def test_fingerprints_never_change() -> None:
    public = bytes(range(32))

    assert short_fingerprint(public) == "mmg4-2klg-yqzw-neis"
    assert spoken_fingerprint(public) == (
        "garlic baker raven carrot glacier pony comet glacier"
    )


def test_there_is_one_word_for_each_byte_told_apart_by_four_letters() -> None:
    assert len(WORDS) == 256
    assert list(WORDS) == sorted(WORDS)
    assert len({word[:4] for word in WORDS}) == 256
    assert all(word.isascii() and word.islower() and len(word) <= 8 for word in WORDS)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_what_is_no_key_has_no_fingerprint(size: int) -> None:
    with pytest.raises(MalformedKey):
        short_fingerprint(bytes(size))
    with pytest.raises(MalformedKey):
        spoken_fingerprint(bytes(size))
