"""What a keeper answers: what there is, what it changes, and what it refuses."""

import os
import sys
from collections.abc import Iterator

import pytest
from tests.scenarios.support import PATIENCE, Machine, eventually, machine

from holdfast.client import current_operator
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.version import __version__

NOWHERE = "s_" + "z" * 16


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("sleep", "600")


def refusal(answer: packets.Packet) -> object:
    assert answer["ok"] is False, answer
    return answer["code"]


def has_exited(here: Machine, session: SessionId) -> bool:
    facts = here.facts(session)
    return facts is not None and facts["exit"] is not None


@pytest.mark.parametrize("word", ["dance", "", None, 7])
def test_what_there_is_not_is_refused(here: Machine, word: object) -> None:
    assert refusal(here.ask(do=word)) == "unexpected-message"


def test_a_session_is_listed_as_it_is(here: Machine) -> None:
    session = here.new("sleep", "600")  # Another test renames that of all others.
    here.wait_whole(session)
    facts = here.facts(session)

    assert facts is not None
    assert (facts["id"], facts["name"]) == (session, session[2:8])
    assert (facts["exit"], facts["held"], facts["keep"]) == (None, True, False)
    assert facts["command"] == ["sleep", "600"]
    answer = here.ask(do="list")
    assert (answer["ok"], answer["more"]) == (True, False)


def test_a_keeper_says_who_it_is_and_what_it_keeps(
    here: Machine, session: SessionId
) -> None:
    del session
    status = here.ask(do="status")
    sessions = here.ask(do="list")["sessions"]
    assert isinstance(sessions, list)

    assert (status["ok"], status["version"]) == (True, __version__)
    for name in ("pid", "nursery", "trustee"):
        os.kill(int(str(status[name])), 0)
    assert len({status["pid"], status["nursery"], status["trustee"]}) == 3
    assert status["sessions"] == len(sessions)
    assert status["upgrading"] is False
    assert status["stalled"] == {}
    assert float(str(status["uptime"])) >= 0


def test_a_name_is_changed_and_nobody_else_gets_it(
    here: Machine, session: SessionId
) -> None:
    other = here.new("sleep", "600")

    assert here.ask(do="rename", id=session, name="web")["ok"]
    assert here.ask(do="rename", id=session, name="web")["ok"]
    assert refusal(here.ask(do="rename", id=other, name="web")) == "name-taken"
    taken = here.ask(do="create", name="web", command=["true"], cwd="/", env={})
    assert refusal(taken) == "name-taken"
    facts = here.facts(session)
    assert facts is not None
    assert facts["name"] == "web"
    assert here.ask(do="rename", id=session, name="other")["ok"]
    assert here.ask(do="rename", id=other, name="web")["ok"]


@pytest.mark.parametrize("do", ["rename", "keep"])
def test_what_there_is_not_cannot_be_changed(here: Machine, do: str) -> None:
    asked = {"do": do, "id": NOWHERE, "name": "x", "keep": True}

    assert refusal(here.ask(**asked)) == "session-not-found"


def test_who_may_not_end_a_session_changes_nothing_of_it(
    here: Machine, session: SessionId
) -> None:
    bot = current_operator.enrol("bot", ActorKind.AGENT)
    asked: packets.Packet = {"id": session, "name": "mine", "asker": bot.actor.id}
    with packets.connect(places.keeper_socket(), PATIENCE) as link:
        packets.send(link, {**asked, "do": "rename", "proof": "00"})
        heard = packets.receive(link)

    assert heard is not None
    assert refusal(heard[0]) in {"not-proven", "not-allowed"}
    facts = here.facts(session)
    assert facts is not None
    assert facts["name"] != "mine"


def test_only_a_holder_says_what_is_true_of_its_session(
    here: Machine, session: SessionId
) -> None:
    said = here.ask(do="facts", id=session, name="forged")

    assert refusal(said) == "not-proven"


def test_what_is_over_is_kept_until_it_is_forgotten(here: Machine) -> None:
    ended = here.new("sh", "-c", "exit 3")
    eventually("it is over", lambda: has_exited(here, ended))
    facts = here.facts(ended)
    assert facts is not None
    assert facts["exit"] == 3

    assert here.ask(do="keep", id=ended, keep=True)["ok"]
    eventually("it is kept", lambda: (here.facts(ended) or {}).get("keep"))
    assert here.ask(do="forget", id=ended)["ok"]
    assert here.facts(ended) is None


def test_a_session_that_cannot_be_made_is_told_of_and_leaves_nothing(
    here: Machine,
) -> None:
    before = here.ask(do="status")["sessions"]
    answer = here.ask(do="create", command=["no-such-program"], cwd="/", env={})

    assert answer["ok"] is False
    assert answer["code"] != "not-proven"
    assert "no-such-program" in str(answer["text"])
    assert here.ask(do="status")["sessions"] == before


@pytest.mark.parametrize(
    "wrong",
    [{"name": "a\x1b[2J"}, {"command": "ls"}, {"cwd": 7}, {"env": ["x"]}],
)
def test_a_creation_that_makes_no_sense_is_refused(
    here: Machine, wrong: dict[str, object]
) -> None:
    asked: dict[str, object] = {"command": ["true"], "cwd": "/", "env": {}, **wrong}

    assert here.ask(do="create", **asked)["ok"] is False


@pytest.mark.parametrize(
    ("python", "root", "why"),
    [
        ("/nowhere", "/", "there is no such interpreter"),
        (sys.executable, "/dev", "that folder does not contain the package"),
    ],
)
def test_an_upgrade_to_code_that_is_not_there_says_why_and_does_nothing(
    here: Machine, python: str, root: str, why: str
) -> None:
    before = here.ask(do="status")

    answer = here.ask(do="upgrade", python=python, root=root)

    assert (answer["code"], answer["text"]) == ("upgrade-failed", why)
    after = here.ask(do="status")
    for name in ("pid", "nursery", "root", "upgrading"):
        assert after[name] == before[name]
