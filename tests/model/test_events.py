import re

import pytest

from holdfast.model.events import EventName


@pytest.mark.parametrize("name", EventName)
def test_a_name_is_a_subject_and_what_happened_to_it(name: EventName) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z]+", name)
    assert name.name == name.value.replace(".", "_").upper()


@pytest.mark.parametrize("name", EventName)
def test_an_event_says_when_in_a_sentence_and_each_field_once(name: EventName) -> None:
    assert name.when.endswith(".")
    assert len(set(name.fields)) == len(name.fields)


def test_no_two_events_have_one_name() -> None:
    assert len(EventName.__members__) == len(EventName)
