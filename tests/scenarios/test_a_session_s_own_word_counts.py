import json
from collections.abc import Iterator

import pytest
from tests.scenarios.elsewhere import Place, places, relay

from holdfast.client import session_location
from holdfast.model.errors import NotAllowed
from holdfast.model.session_requests import Forget, Keep, ReadLog, Rename


@pytest.fixture(scope="module")
def joined() -> Iterator[tuple[Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do("join", "-", "--name", "box", said=home.invite("--as", "anna"))
        yield home, away


@pytest.fixture
def web(joined: tuple[Place, Place]) -> Iterator[str]:
    home, _ = joined
    yield home.new("bash", "--norc", name="web")
    home.run("end", "web")


def code(away: Place, *words: str) -> str:
    verb, *rest = words
    done = away.run(verb, "--json", *rest)
    return json.loads(done.stderr)["error"]["code"] if done.returncode else "done"


def test_whoever_is_revoked_in_one_session_has_nothing_of_it_from_the_host(
    joined: tuple[Place, Place], web: str
) -> None:
    home, away = joined
    home.new("bash", "--norc", name="other")
    assert code(away, "log", "box/web") == "done"

    home.do("revoke", "web", "@anna")

    assert code(away, "log", "box/other") == "done"
    assert code(away, "log", "box/web") == "session-not-found"
    assert code(away, "who", "box/web") == "session-not-found"
    for words in (("rename", "box/web", "mine"), ("keep", "box/web")):
        assert away.run(*words).returncode == 64
    with away.inhabited():
        for asked in (
            ReadLog(web),
            Rename(web, "mine"),
            Keep(web, keep=True),
            Forget(web),
        ):
            with pytest.raises(NotAllowed):
                session_location.ask_far("box", asked)
    home.do("end", "other")


@pytest.mark.usefixtures("web")
def test_whoever_was_left_only_to_watch_changes_nothing_by_way_of_the_host(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    away.do("read", "box/web")

    home.do("grant", "web", "@anna", "observe")

    assert code(away, "log", "box/web") == "done"
    assert away.run("rename", "box/web", "mine").returncode == 77
    assert [one["name"] for one in home.facts("ls")["sessions"]].count("mine") == 0


@pytest.mark.usefixtures("web")
def test_whoever_may_not_look_is_not_told_who_is_there(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    away.do("read", "box/web")
    home.do("send", "web", "x")

    home.do("grant", "web", "@anna", "input", "take")

    told = away.facts("who", "box/web")
    assert (told["present"], told["pending"], told["waiting"]) == ([], [], [])
    assert told["rights"] == ["input", "take"]
