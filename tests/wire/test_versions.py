import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import NoCommonVersion
from holdfast.wire.versions import (
    MAX_OFFERED,
    MAX_VERSION,
    OLDEST,
    PROTOCOL,
    SPOKEN,
    choose,
    spelled,
)
from tools import write_schema as schema

FINGERPRINTS = {
    1: "e20ad47134ebd77445f19080716054dafa3069ef517b075115b25feafbbdaf18",
}

VECTORS = json.loads((Path(__file__).parent / "vectors/versions.json").read_text())

offers = st.lists(st.integers(0, 12), min_size=1, max_size=MAX_OFFERED)


def test_the_message_set_changes_only_together_with_the_version() -> None:
    assert FINGERPRINTS[PROTOCOL] == schema.fingerprint(schema.document())


def test_what_is_offered_is_every_version_spoken_newest_first() -> None:
    assert SPOKEN[0] == PROTOCOL <= MAX_VERSION
    assert SPOKEN[-1] == OLDEST
    assert len(SPOKEN) <= MAX_OFFERED


@given(offers, offers)
def test_i1_the_highest_common_version_is_chosen(
    ours: list[int], theirs: list[int]
) -> None:
    common = [version for version in ours if version in theirs]

    if common:
        assert choose(ours, theirs) == max(common)
    else:
        with pytest.raises(NoCommonVersion):
            choose(ours, theirs)


@given(offers, offers)
def test_i2_both_sides_choose_the_same(ours: list[int], theirs: list[int]) -> None:
    if set(ours) & set(theirs):
        assert choose(ours, theirs) == choose(theirs, ours)


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_the_vectors_are_chosen_from_as_written(
    vector: dict[str, list[int] | int | str],
) -> None:
    ours, theirs = vector["ours"], vector["theirs"]
    assert isinstance(ours, list)
    assert isinstance(theirs, list)

    if "chosen" in vector:
        assert choose(ours, theirs) == vector["chosen"]
    else:
        with pytest.raises(NoCommonVersion) as caught:
            choose(ours, theirs)
        assert caught.value.code == vector["code"]


@pytest.mark.parametrize("theirs", [[0], [MAX_VERSION], [2, 3, 9]])
def test_h7_sides_without_a_common_version_are_told_what_each_speaks(
    theirs: list[int],
) -> None:
    with pytest.raises(NoCommonVersion) as caught:
        choose([1], theirs)

    assert caught.value.facts == {"ours": "1", "theirs": spelled(theirs)}


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ([], "none"),
        ([1], "1"),
        ([2, 1], "1 to 2"),
        ([9, 4, 3, 5, 1, 1], "1, 3 to 5, 9"),
    ],
)
def test_versions_are_spelled_as_a_person_would(versions: list[int], text: str) -> None:
    assert spelled(versions) == text
