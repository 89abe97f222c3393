import pytest

from holdfast.model.errors import MalformedMessage
from holdfast.model.session_record import Cells, fields_of
from holdfast.model.session_requests import Change, Creation


def test_a_creation_of_another_version_is_understood() -> None:
    asked = Creation.from_facts({"do": "create", "size": [9, 5], "mood": "calm"})

    assert asked == Creation(size=Cells(9, 5))


def test_of_a_change_there_is_what_was_said() -> None:
    assert fields_of(Change, {"do": "keep", "keep": False}) == {"keep": False}
    assert Creation.from_facts({"env": {"A": "1"}}).env == {"A": "1"}
    with pytest.raises(MalformedMessage):
        Creation.from_facts({"env": {"A": 1}})
