import io
import json
import sys

import pytest
from msgspec.structs import replace
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import evidence

from holdfast.cli.main import main
from holdfast.client.secret_input import MAX_SECRET, checked, demand_secrecy
from holdfast.model.errors import LineTooLong, MalformedArgument, WouldBeShown
from holdfast.model.inputs import InputKind

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def asked(web: FakeSession) -> FakeSession:
    web.operating.kernel.states = [evidence("waiting-for-secret")]
    return web


def answer(given: bytes) -> int:
    """Run the verb with something piped in."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given))
    try:
        return main(["answer", "web"])
    finally:
        sys.stdin = before


@pytest.mark.parametrize("given", [b"a b \xff\n", b"a b \xff\r\n", b"a b \xff"])
def test_the_first_line_is_typed_with_enter_as_an_answer(
    asked: FakeSession, given: bytes
) -> None:
    assert answer(given) == 0

    (sent,) = asked.submitted
    assert (sent.kind, sent.payload) == (InputKind.ANSWER, b"a b \xff\r")


def test_an_empty_line_is_an_answer_and_nothing_at_all_is_none(
    asked: FakeSession,
) -> None:
    assert answer(b"\n") == 0
    assert answer(b"") == 64

    assert [one.payload for one in asked.submitted] == [b"\r"]


def test_a_secret_on_the_command_line_is_refused_and_not_repeated(
    asked: FakeSession, capsys: Capture
) -> None:
    assert main(["answer", "web", "hunter2"]) == 64

    assert "hunter2" not in capsys.readouterr().err
    assert asked.submitted == []


@pytest.mark.parametrize("state", ["at-prompt", "running", "frozen"])
def test_nobody_is_asked_for_a_secret_that_nobody_waits_for(
    web: FakeSession, capsys: Capture, state: str
) -> None:
    web.operating.kernel.states = [evidence(state)]

    assert main(["answer", "web", "--json"]) == 75

    error = json.loads(capsys.readouterr().err)["error"]
    assert (error["code"], error["facts"]) == ("not-waiting", {"state": state})
    assert error["retryable"]


def test_what_reads_key_by_key_may_show_it_and_needs_a_word() -> None:
    seen = replace(evidence("waiting-for-input"), echo=False, canonical=False)

    demand_secrecy(seen, key_by_key=True)
    with pytest.raises(WouldBeShown):
        demand_secrecy(seen, key_by_key=False)
    with pytest.raises(WouldBeShown):
        demand_secrecy(evidence("waiting-for-input"), key_by_key=True)


@pytest.mark.parametrize("key", [b"\x03", b"\x04", b"\x15", b"\x7f", b"\n", b"\0"])
def test_no_character_of_a_secret_is_a_key(key: bytes) -> None:
    with pytest.raises(MalformedArgument):
        checked(b"pass" + key + b"word")


def test_a_secret_that_a_line_has_no_room_for_is_not_cut() -> None:
    assert checked(b"x" * MAX_SECRET) == b"x" * MAX_SECRET
    with pytest.raises(LineTooLong):
        checked(b"x" * (MAX_SECRET + 1))
