import json
from pathlib import Path

import pytest
from tests.cli.support.past import (
    Reviver,
    at_terminal,
    begin,
    note,
    put_to_disk,
)

from holdfast.cli.main import main
from holdfast.client.lost_sessions import demand_not_lost, lives, span
from holdfast.linux.stored import lost_sessions, operators, places, recovery_places
from holdfast.model.actors import ActorKind
from holdfast.model.errors import SessionIsLost, SessionStopped

Capture = pytest.CaptureFixture[str]


def test_a_lost_session_is_started_again_under_its_name(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin(environment={"KEPT": "yes"})

    assert main(["recover", "-d", "old"]) == 0

    [asked] = reviver.wanted("recover")
    assert (asked["recovers"], asked["name"]) == (one, "old")
    assert asked.get("env") is None
    assert asked["proof"]
    assert capsys.readouterr().out == (
        "old was started again (incarnation 2). `holdfast attach old` shows it.\n"
    )


def test_one_whose_environment_was_not_kept_gets_ours(
    reviver: Reviver, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    monkeypatch.setenv("OURS", "this")

    assert main(["recover", "-d", "old"]) == 0

    [asked] = reviver.wanted("recover")
    assert asked["env"]["OURS"] == "this"


def test_it_can_be_given_another_name_and_told_in_json(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()

    assert main(["recover", "--json", "-n", "new", one]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told == {"id": one, "name": "new", "pid": 12, "incarnation": 2}
    assert reviver.wanted("recover")[0]["name"] == "new"


def test_a_person_is_shown_it_until_it_ends(reviver: Reviver, capsys: Capture) -> None:
    begin()
    reviver.ends_with = 7

    with at_terminal():
        assert main(["recover", "old"]) == 7

    said = capsys.readouterr().out
    assert said.startswith("old was started again (incarnation 2).\n")
    assert said.endswith("old ended (status 7)\n")


def test_without_a_terminal_to_show_it_on_nothing_is_started(reviver: Reviver) -> None:
    begin()

    assert main(["recover", "old"]) == 64

    assert reviver.asked == []


def test_a_start_that_needs_an_approval_is_waited_for(
    reviver: Reviver, capsys: Capture
) -> None:
    begin()
    reviver.begins = False

    assert main(["recover", "-d", "old"]) == 0

    assert "waiting for approval of sh" in capsys.readouterr().err


def test_all_are_recovered_that_can_be_and_what_is_on_disk_is_left(
    reviver: Reviver, capsys: Capture
) -> None:
    begin("one")
    begin("two")
    third = begin("three")
    note(third, "stopped", image=put_to_disk(third).number)
    reviver.refuses = "one"

    assert main(["recover", "--all"]) == 75

    assert {one["name"] for one in reviver.wanted("recover")} == {"one", "two"}
    said = capsys.readouterr()
    assert said.out.startswith("two was started again")
    assert said.err == "holdfast: one: a session named 'one' already exists\n"
    reviver.refuses = ""
    assert main(["recover", "--all"]) == 0
    assert capsys.readouterr().out.startswith("one was started again")


@pytest.mark.parametrize("words", [[], ["old", "--all"]])
def test_either_one_is_named_or_all(reviver: Reviver, words: list[str]) -> None:
    begin()

    assert main(["recover", *words]) == 64

    assert reviver.asked == []


@pytest.mark.usefixtures("reviver")
def test_what_is_forgotten_is_not_lost_any_more_and_keeps_its_logbook() -> None:
    one = begin()

    assert main(["recover", "--forget", "old"]) == 0

    assert recovery_places.recorded() == []
    assert places.session_log(one).exists()


@pytest.mark.usefixtures("reviver")
def test_only_a_person_has_a_session_forgotten(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    one = begin()
    operators.enrol("robo", ActorKind.AGENT, b"robo", None, b"t" * 32)
    monkeypatch.setenv("HOLDFAST_AS", "robo")

    assert main(["recover", "--forget", "old"]) != 0

    assert recovery_places.recorded() == [one]
    assert "end" in capsys.readouterr().err


def test_one_whose_records_cannot_be_read_is_not_recovered(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    Path(recovery_places.path_of(one, "facts")).write_bytes(b"nonsense")

    assert main(["recover", "-d", one]) == 64

    assert "its records cannot be read" in capsys.readouterr().err
    assert reviver.wanted("recover") == []


@pytest.mark.usefixtures("reviver")
def test_who_asks_for_one_that_is_gone_is_told_how_it_comes_back() -> None:
    one = begin()
    note(one, "detached", seconds=-60)
    demand_not_lost("web", lost_sessions.lost(()))
    with pytest.raises(SessionIsLost, match="old was lost 0 s ago"):
        demand_not_lost("old", lost_sessions.lost(()))

    note(one, "stopped", image=put_to_disk(one).number)

    with pytest.raises(SessionStopped, match=f"{one}.1"):
        demand_not_lost("old", lost_sessions.lost(()))


def test_one_may_be_alive_whose_socket_is_answered(reviver: Reviver) -> None:
    (web,) = reviver.has("web")

    assert lives(web.id)
    web.die()
    assert not lives(web.id)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (3599, "59 min"), (7200, "2 h")],
)
def test_a_length_of_time_is_told_in_its_largest_unit(
    seconds: float, told: str
) -> None:
    assert span(seconds) == told
