"""Which session is meant, by the keeper's word or without a keeper."""

import os

import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import OTHER, US, FakeKeeper, FakeSession

from holdfast.client import early_session
from holdfast.client import keeper as known_sessions
from holdfast.client.early_session import EarlySession
from holdfast.model.errors import (
    HostNotKnown,
    MalformedMessage,
    MalformedName,
    NoKeeper,
    SessionNotFound,
)
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Rename


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a keeper of a busy machine answer before its sockets are looked at."""
    monkeypatch.setattr(known_sessions, "SOON", 10.0)


def facts(letters: str, created_ms: int = 0) -> dict[str, object]:
    return {"id": f"s_{letters:a<16}", "name": letters, "created_ms": created_ms}


def test_sessions_are_listed_oldest_first_and_those_as_old_by_id() -> None:
    listed = [facts("b", 2), facts("c", 1), facts("a", 2)]

    found = known_sessions.sessions_in({"sessions": listed}, "box")

    assert [one.name for one in found] == ["c", "a", "b"]
    assert {one.host for one in found} == {"box"}


@pytest.mark.parametrize(
    "listed",
    ["web", [7], [{"name": "web"}], [{"id": "web"}], [facts("a") | {"pid": "x"}]],
)
def test_a_list_that_is_none_is_refused(listed: object) -> None:
    with pytest.raises(MalformedMessage):
        known_sessions.sessions_in({"sessions": listed}, "")
    assert known_sessions.sessions_in({"sessions": []}, "") == []


def test_a_session_is_found_by_what_the_keeper_knows(
    web: FakeSession,  # noqa: F811
    keeper: FakeKeeper,  # noqa: F811
) -> None:
    for text in ("web", web.id, web.id[:6]):
        found = known_sessions.find(text)
        assert (found.id, found.pid) == (web.id, web.facts["pid"])

    assert {one["do"] for one in keeper.asked} == {"list"}


def test_a_session_that_nobody_has_is_said_to_be_none(web: FakeSession) -> None:  # noqa: F811
    for text in ("job", "/web", "web/", "s_" + "9" * 16):
        with pytest.raises(SessionNotFound) as refused:
            known_sessions.find(text)
        assert web.id in refused.value.__notes__[-1]


@pytest.mark.usefixtures("web")
def test_a_session_elsewhere_is_one_of_a_host_that_we_know() -> None:
    with pytest.raises(HostNotKnown):
        known_sessions.find("box/web")
    with pytest.raises(MalformedName):
        known_sessions.find("../web")


def test_a_keeper_that_is_dead_does_not_hide_a_session_that_lives(
    web: FakeSession,  # noqa: F811
    keeper: FakeKeeper,  # noqa: F811
) -> None:
    keeper.sessions.remove(web)
    keeper.close()

    made_ms = os.lstat(web.path).st_mtime_ns // 1_000_000
    record = SessionRecord(web.id, "web", state="running", created_ms=made_ms)
    for text in ("web", web.id, web.id[:6]):
        assert known_sessions.find(text, start=False) == record
    assert known_sessions.sessions_by_socket() == [record]
    with pytest.raises(NoKeeper):
        known_sessions.find("job", start=False)

    web.die()

    assert known_sessions.sessions_by_socket() == []
    with pytest.raises(NoKeeper):
        known_sessions.find("web", start=False)


def test_what_was_begun_early_is_meant_without_asking_anybody(
    web: FakeSession,  # noqa: F811
    keeper: FakeKeeper,  # noqa: F811
) -> None:
    early = EarlySession("it", web.id, "web")
    early.reach(early.attach("observe"))
    early_session.keep(early)
    try:
        found = known_sessions.find("it")
        assert isinstance(found, SessionRecord)
        assert (found.id, found.name) == (web.id, "web")
        assert keeper.asked == []
    finally:
        early_session.forget()
    with pytest.raises(SessionNotFound):
        known_sessions.find("it")


def test_a_change_is_proven_in_our_name_unless_somebody_has_proven_it(
    web: FakeSession,  # noqa: F811
    keeper: FakeKeeper,  # noqa: F811
) -> None:
    known_sessions.request(Rename(web.id, "job"))
    known_sessions.request(Rename(web.id, "job", OTHER, 7, "theirs"))

    ours, theirs = keeper.asked
    assert ours["asker"] == US
    assert ours["proof"]
    assert (theirs["asker"], theirs["asked_ms"]) == (OTHER, 7)
    assert theirs["proof"] == "theirs"


def test_a_keeper_that_runs_says_how_it_does(keeper: FakeKeeper) -> None:  # noqa: F811
    assert known_sessions.status().pid == 7

    keeper.close()

    with pytest.raises(NoKeeper):
        known_sessions.status()
