import pytest

from holdfast.model.errors import MalformedMessage, UnexpectedMessage
from holdfast.model.limits import Limits
from holdfast.model.session_record import Cells, HeldStart, fields_of, record_of
from holdfast.model.session_requests import (
    KINDS,
    Change,
    Created,
    Creation,
    Forget,
    Keep,
    ReadLog,
    Status,
    facts_of,
    packet_of,
    request_from,
)


def test_a_creation_of_another_version_is_understood() -> None:
    asked = record_of(Creation, {"do": "create", "size": [9, 5], "mood": "calm"})

    assert asked == Creation(size=Cells(9, 5))


def test_of_a_change_there_is_what_was_said() -> None:
    assert fields_of(Change, {"do": "keep", "keep": False}) == {"keep": False}
    assert record_of(Creation, {"env": {"A": "1"}}).env == {"A": "1"}
    with pytest.raises(MalformedMessage):
        record_of(Creation, {"env": {"A": 1}})


@pytest.mark.parametrize("do", KINDS)
def test_every_request_has_a_word_and_is_read_again(do: str) -> None:
    asked = KINDS[do]()

    assert packet_of(asked) == {"do": do}
    assert request_from({"do": do, "mood": "calm"}) == asked


def test_what_has_its_default_is_left_out_and_what_is_false_is_not() -> None:
    assert packet_of(Keep("s_x", keep=False)) == {
        "do": "keep",
        "id": "s_x",
        "keep": False,
    }
    assert packet_of(Forget("s_x")) == {"do": "forget", "id": "s_x"}


def test_a_field_whose_name_python_keeps_has_its_own_on_the_wire() -> None:
    asked = ReadLog("s_x", from_=0, index_=3)

    packet = packet_of(asked)

    assert packet == {"do": "log", "id": "s_x", "from": 0, "index": 3}
    assert request_from(packet) == asked


@pytest.mark.parametrize("do", ["dance", "", None, 7, ["list"]])
def test_what_is_no_request_is_refused(do: object) -> None:
    with pytest.raises(UnexpectedMessage):
        request_from({"do": do})


def test_a_field_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(MalformedMessage):
        request_from({"do": "log", "from": "0"})
    assert request_from({"do": "status"}) == Status()


def test_an_answer_is_read_again_with_what_waits() -> None:
    made = Created("s_x", "web", start=HeldStart("c_x", "ls", "/bin/ls", ("A",)))

    assert record_of(Created, {"ok": True, **facts_of(made)}) == made


def test_limits_are_asked_for_and_told_together() -> None:
    assert Creation(memory=1, millicpus=2, pids=3).limits == Limits(1, 2, 3)
    assert Created(memory=1, millicpus=2, pids=3).limits == Limits(1, 2, 3)
