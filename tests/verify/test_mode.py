import pytest

from holdfast.verify.mode import MODES, chosen


def test_there_are_nine_and_each_says_everything() -> None:
    assert [one.number for one in MODES] == list(range(1, 10))
    assert len({one.name for one in MODES}) == len(MODES)
    for mode in MODES:
        assert all((mode.title, mode.trigger, mode.guarantee, mode.handed_off))


def test_without_words_all_are_meant() -> None:
    assert chosen([]) == list(MODES)


def test_a_mode_is_meant_by_number_or_name_and_comes_once_in_order() -> None:
    picked = chosen(["deputy", "1", "disconnect"])

    assert [one.number for one in picked] == [1, 8]


@pytest.mark.parametrize("word", ["0", "10", "Deputy", ""])
def test_what_names_none_is_refused_with_those_there_are(word: str) -> None:
    with pytest.raises(ValueError, match="8 deputy"):
        chosen(["1", word])
