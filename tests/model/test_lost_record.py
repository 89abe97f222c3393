import pytest

from holdfast.model.errors import MalformedMessage
from holdfast.model.ids import SessionId
from holdfast.model.lost_record import LostRecord, lost_in

ONE, TWO = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
LOST = LostRecord(ONE, "web", 20, ("sh", "-c", "\x1b[2J"), "/srv", 2)


def test_what_is_told_is_read_again() -> None:
    facts = LOST.facts()

    assert (facts["state"], facts["recoverable"]) == ("lost", True)
    assert "host" not in facts
    found = LostRecord.from_facts(facts, "box")
    assert found == LOST._replace(host="box")
    assert found.facts()["host"] == "box"
    assert found.label == "box/web"
    assert LOST._replace(name="").label == ONE
    assert "\x1b" not in LOST.line


def test_it_is_called_by_its_name_or_its_id() -> None:
    assert LOST.is_called("WEB")
    assert LOST.is_called(ONE)
    assert not LOST._replace(name="").is_called("")
    assert not LOST._replace(why="it is damaged").is_recoverable


def test_the_last_to_be_seen_comes_last() -> None:
    older = LOST._replace(id=TWO, seen_ms=10)
    told: list[object] = [LOST.facts(), older.facts()]

    found = lost_in({"lost": told}, "box")

    assert [one.id for one in found] == [TWO, ONE]
    assert lost_in({}, "box") == []  # A host of older code.


@pytest.mark.parametrize(
    "told", ["none", [7], [{"id": "web"}], [{"id": ONE, "seen_ms": "soon"}]]
)
def test_what_makes_no_sense_is_refused(told: object) -> None:
    with pytest.raises(MalformedMessage):
        lost_in({"lost": told}, "box")


def test_what_was_put_to_disk_is_stopped_and_not_lost() -> None:
    assert LOST.facts()["state"] == "lost"
    assert LOST._replace(image=3).facts()["state"] == "stopped"
