import io
import json
from typing import NamedTuple

import pytest
from tests.cli.support.fakes import FakeSession

from holdfast.cli.main import main
from holdfast.cli.verbs.notify import said_in
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId
from holdfast.wire.intents import Notify

Capture = pytest.CaptureFixture[str]


class Stdin(NamedTuple):
    buffer: io.BytesIO


def test_what_is_said_is_told_to_the_session(web: FakeSession) -> None:
    assert main(["notify", "web", "--needs-input", "may I deploy?"]) == 0

    assert web.operating.requested == [Notify("may I deploy?")]


def test_inside_a_session_the_name_may_be_left_out(
    web: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_SESSION", web.id)

    assert main(["notify", "--needs-input", "done"]) == 0

    assert web.operating.requested == [Notify("done")]


def test_outside_of_any_a_name_is_needed(
    web: FakeSession, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_SESSION", raising=False)

    assert main(["notify", "--needs-input", "done"]) == 64

    assert web.operating.requested == []
    assert "no name" in capsys.readouterr().err


def test_a_hook_s_json_is_read_from_standard_input(
    web: FakeSession, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = json.dumps({"hook_event_name": "Notification", "message": "may I?"})
    monkeypatch.setattr("sys.stdin", Stdin(io.BytesIO(raw.encode() + b"\n")))

    assert main(["notify", "web", "--needs-input", "-", "--json"]) == 0

    assert web.operating.requested == [Notify("may I?")]
    assert json.loads(capsys.readouterr().out) == {"session": web.id}


def test_a_long_text_is_cut_before_it_is_sent(web: FakeSession) -> None:
    assert main(["notify", "web", "--needs-input", "x" * 5000]) == 0

    assert web.operating.requested == [Notify("x" * 1024)]


def test_who_may_not_act_there_is_told_so(web: FakeSession, capsys: Capture) -> None:
    web.operating.refusal = NotAllowed(ActorId("a_" + "b" * 32), "command")

    assert main(["notify", "web", "--needs-input", "look"]) == 77

    assert "command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("plain text", "plain text"),
        ('{"message": "may I?"}', "may I?"),
        ('{"last-assistant-message": "done", "type": "x"}', "done"),
        ('{"last_assistant_message": "done", "message": ""}', "done"),
        ('{"message": 7}', '{"message": 7}'),
        ("{not json", "{not json"),
        ('{"a":' * 9999, '{"a":' * 9999),
    ],
)
def test_of_a_hook_s_json_the_message_is_shown(given: str, said: str) -> None:
    assert said_in(given) == said
