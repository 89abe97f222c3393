import json

import pytest
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import evidence

from holdfast.cli.main import main
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId

Capture = pytest.CaptureFixture[str]


def test_state_says_a_word_and_the_reasons(web: FakeSession, capsys: Capture) -> None:
    web.operating.kernel.states = [evidence("waiting-for-input")]

    assert main(["state", "web"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "waiting-for-input",
        "  cat (7) reads the terminal (fd 0)",
        "  group 7 has the terminal: echo on, reads whole lines",
    ]
    assert web.attaches == []


def test_what_is_not_sure_is_said_to_be(web: FakeSession, capsys: Capture) -> None:
    web.operating.kernel.states = [evidence("running", sure=False, unread=3)]

    assert main(["state", "web"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "running (not sure)"
    assert lines[-1] == "  3 bytes typed and not read"


def test_state_is_there_for_programs_too(web: FakeSession, capsys: Capture) -> None:
    web.operating.kernel.states = [evidence("waiting-for-secret")]

    assert main(["state", "web", "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["session"], said["state"]) == (web.id, "waiting-for-secret")
    assert said["runtime"] == "plain"
    assert (said["sure"], said["echo"], said["foreground"]) == (True, False, 7)
    assert said["processes"][0]["where"] == "reads the terminal (fd 0)"


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_session_that_has_ended_is_not_asked(
    web: FakeSession, capsys: Capture, words: list[str]
) -> None:
    web.exits(3)

    assert main(["state", "web", *words]) == 0

    said = capsys.readouterr().out
    assert "exited" in said
    assert "3" in said
    assert not web.operating.requested


def test_who_may_not_observe_is_told_so(web: FakeSession) -> None:
    web.operating.refusal = NotAllowed(ActorId("a_" + "a" * 32), "observe")

    assert main(["state", "web"]) == 77
