import re

import pytest

from holdfast.model.events import Event, EventName
from holdfast.model.ids import session_id

HERE = session_id(bytes(10))


@pytest.mark.parametrize("name", EventName)
def test_a_name_is_a_subject_and_what_happened_to_it(name: EventName) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z]+", name)
    assert name.name == name.value.replace(".", "_").upper()


def test_no_two_events_have_one_name() -> None:
    assert len(EventName.__members__) == len(EventName)


def test_an_event_has_no_fields_unless_it_is_given_some() -> None:
    assert Event(EventName.SESSION_STARTED, HERE).fields == {}


def test_fields_of_one_event_are_not_those_of_another() -> None:
    one = Event(EventName.VIEWER_CUT, HERE)
    other = Event(EventName.VIEWER_CUT, HERE)

    assert one == other
    assert one.fields is not other.fields
