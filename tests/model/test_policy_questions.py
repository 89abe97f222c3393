import base64
import json

import pytest

from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import Epoch, SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, LocalTime, Question, TurnHold
from holdfast.model.resolutions import Resolution, Resolved

SESSION = SessionId("s_" + "a" * 16)


def asked(**members: object) -> Question:
    given: dict[str, object] = {
        "actor": Actor(actor_id(b"k"), ActorKind.AGENT, "bot"),
        "kind": InputKind.KEYS,
        "payload": b"\xffls\r",
        "session": SESSION,
        "session_name": "build",
        "clock": LocalTime(61, 6),
        "turn": TurnHold.GRANTED,
        "epoch": Epoch(4),
        "cwd": "/src",
        "staged": b"x",
    }
    return Question(**{**given, **members})  # type: ignore[arg-type]


def test_a_question_is_a_document_that_json_can_hold() -> None:
    whole = json.loads(json.dumps(asked().to_object()))

    assert whole == {
        "version": 1,
        "actor": {"id": actor_id(b"k"), "kind": "agent", "name": "bot"},
        "input": "keys",
        "payload": base64.b64encode(b"\xffls\r").decode(),
        "size": 4,
        "staged": base64.b64encode(b"x").decode(),
        "secret": False,
        "cwd": "/src",
        "foreground": None,
        "shell_reads": True,
        "resolution": None,
        "originators": [],
        "exec": None,
        "session": {"id": SESSION, "name": "build"},
        "time": {"minute": 61, "weekday": "sun"},
        "turn": {"hold": "granted", "epoch": 4},
    }


def test_the_document_of_an_exec_says_what_is_executed() -> None:
    execution = Execution("/bin/rm", "/usr/bin/rm", ("rm", None))

    whole = json.loads(json.dumps(asked(execution=execution).to_object()))

    assert whole["exec"] == {
        "path": "/bin/rm",
        "real": "/usr/bin/rm",
        "words": ["rm", None],
        "variables": [],
    }


def test_a_secret_is_not_in_the_document() -> None:
    whole = asked(payload=b"hunter2\r", staged=b"hun", secret=True).to_object()

    assert (whole["payload"], whole["staged"], whole["size"]) == (None, None, 8)
    assert "aHVu" not in json.dumps(whole)


def test_what_is_staged_and_not_known_is_null() -> None:
    assert asked(staged=None).to_object()["staged"] is None


@pytest.mark.parametrize("name", ["actor", "secret", "payload"])
def test_further_members_never_replace_ours(name: str) -> None:
    more = {name: "theirs", "mood": ["a_x"]}

    whole = asked(more=more).to_object()

    assert whole[name] != "theirs"
    assert whole["mood"] == ["a_x"]


def test_what_a_line_runs_and_who_staged_it_is_in_the_document() -> None:
    bot = Actor(actor_id(b"b"), ActorKind.AGENT, "bot")
    found = Resolution((Resolved(doubt="unknown"),))
    given = asked(resolution=found, originators=(bot,), foreground="bash")

    whole = given.to_object()

    assert whole["resolution"] == found.to_object()
    assert whole["foreground"] == "bash"
    assert whole["originators"] == [{"id": bot.id, "kind": "agent", "name": "bot"}]


def test_what_a_secret_runs_is_not_in_the_document() -> None:
    found = Resolution((Resolved(doubt="unknown"),))

    assert asked(resolution=found, secret=True).to_object()["resolution"] is None
