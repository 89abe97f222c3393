import json

import pytest

from holdfast.model.errors import MalformedId, MalformedMessage
from holdfast.model.ids import SessionId
from holdfast.model.limits import Limits
from holdfast.model.session_record import (
    CapsuleRecord,
    Cells,
    HeldRecord,
    HeldStart,
    SessionRecord,
    listed_in,
    sound_fields,
    unknown_in,
)

ID = SessionId("s_" + "a" * 16)
RECORD = SessionRecord(
    ID, "web", 7, "running", None, ("sh", "-c"), "/", 5, Cells(80, 24), keep=True
)
HELD = HeldRecord(
    "web",
    8,
    "1.0",
    "a_1",
    "/cg",
    "bash",
    start=HeldStart("c_1", "sh", "/bin/sh", ("A",)),
    capsule=CapsuleRecord(7, 4026, 8, 9, 2, 4, "tty[8800:1]", trees=("/home/u",)),
)


def told(facts: object) -> object:
    """Return facts as another process gets them."""
    return json.loads(json.dumps(facts))


def test_what_is_written_is_read_in_another_process() -> None:
    facts = told({**RECORD.facts(), **HELD.facts()})

    assert SessionRecord.from_facts(facts) == RECORD
    assert HeldRecord.from_facts(facts) == HELD


def test_every_field_is_in_the_facts_but_where_it_lives_if_that_is_here() -> None:
    far = RECORD._replace(host="box")

    assert tuple(far.facts()) == SessionRecord._fields
    here = tuple(name for name in SessionRecord._fields if name != "host")
    assert tuple(RECORD.facts()) == here


def test_a_version_that_knows_more_or_less_is_understood() -> None:
    assert SessionRecord.from_facts({"id": ID, "mood": "calm"}) == SessionRecord(ID)
    assert SessionRecord.from_facts({"id": ID, "cwd": None}) == SessionRecord(ID)
    assert unknown_in({"id": ID, "creator": "", "mood": "calm"}) == {"mood": "calm"}
    assert HeldRecord.from_facts({}) == HeldRecord()
    assert "start" not in HeldRecord().facts()
    assert "capsule" not in HeldRecord().facts()


def test_whatever_has_ended_is_told_as_that() -> None:
    told = SessionRecord.from_facts({"id": ID, "state": "running", "exit": 0})

    assert told.state == "exited"


@pytest.mark.parametrize(
    "facts",
    [
        {"name": 5},
        {"pid": "1"},
        {"pid": True},
        {"keep": 1},
        {"command": "sh"},
        {"command": ["sh", 1]},
        {"size": [80]},
        {"size": 80},
        {"size": [80, "24"]},
        {"exit": "0"},
    ],
)
def test_a_value_of_another_type_is_refused(facts: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        SessionRecord.from_facts({"id": ID, **facts})
    assert sound_fields(SessionRecord, {**facts, "cwd": "/"}) == {"cwd": "/"}


@pytest.mark.parametrize("facts", [{"start": "now"}, {"start": {"text": 1}}, [], None])
def test_what_a_holder_leaves_is_checked_alike(facts: object) -> None:
    with pytest.raises(MalformedMessage):
        HeldRecord.from_facts(facts)


@pytest.mark.parametrize("given", [None, "", "../x", 5])
def test_a_session_has_an_id(given: object) -> None:
    with pytest.raises((MalformedId, MalformedMessage)):
        SessionRecord.from_facts({"id": given})


def test_a_list_is_a_list() -> None:
    assert listed_in({"sessions": [1]}) == [1]
    assert listed_in({}) == []
    with pytest.raises(MalformedMessage):
        listed_in({"sessions": {"a": 1}})


def test_people_call_it_by_its_name_or_its_id() -> None:
    assert RECORD.label == "web"
    assert RECORD._replace(host="box").label == "box/web"
    assert SessionRecord(ID).label == ID


def test_a_life_was_begun_by_who_recovered_it_and_else_by_the_creator() -> None:
    held = HeldRecord(creator="a_1")

    assert held.begun_by == "a_1"
    assert held._replace(starter="a_2").begun_by == "a_2"


def test_limits_are_told_together() -> None:
    facts = {"id": ID, "memory": 1, "millicpus": 2, "pids": 3}

    assert SessionRecord.from_facts(facts).limits == Limits(1, 2, 3)
    assert HeldRecord.from_facts({"met": {"pids": 2}}).met == {"pids": 2}
    with pytest.raises(MalformedMessage):
        HeldRecord.from_facts({"met": {"pids": "2"}})
