"""`gate test`: what would happen, to whom, by which policy, before anything does."""

import json
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, apply_policy, machine

from holdfast.cli.main import main
from holdfast.client import current_operator
from holdfast.linux.stored import operators, places, policy_files
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import SessionId

LOOKS = '[[rule]]\nname = "look"\nverdict = "allow"\nkind = "agent"\nfirst = "ls"\n'
FREE = '[default]\nagent = "allow"\n'
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    apply_policy(LOOKS)
    return here.new("bash", "--norc", "--noprofile")


def tried(session: SessionId, capsys: Capture, *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["gate", "test", session, *words])
    return code, capsys.readouterr().out


def test_it_answers_for_somebody_who_was_never_there_by_name(
    session: SessionId, capsys: Capture
) -> None:
    bot = current_operator.enrol("bot", ActorKind.AGENT)
    digest = policy_files.standing().applied.digest[:32]

    code, said = tried(session, capsys, "--as-operator", "bot", "--", "ls -l")
    assert (code, said.splitlines()[0]) == (
        0,
        f"allow by look, for {bot.actor.shown()} in {session[2:8]}",
    )
    assert f"policy {digest}, in force" in said
    assert tried(session, capsys, "--as-operator", "bot", "--", "rm x")[0] == 77
    # Asking about somebody lets nobody in.
    assert bot.actor.id not in places.session_log(session).read_text()


def test_an_invitation_to_another_session_counts_for_nothing_here(
    session: SessionId, capsys: Capture
) -> None:
    elsewhere = Envelope(frozenset(Right), SessionId("s_" + "b" * 16))
    terms = operators.Terms("00", elsewhere)
    operators.enrol("guest", ActorKind.AGENT, b"g" * 32, None, b"t" * 32, terms)

    code, said = tried(session, capsys, "--as-operator", "guest", "--", "ls")

    assert code == 77
    assert "not-allowed" in said
    assert said.count("guest (agent, ") == 2


def test_a_policy_is_tried_before_it_is_applied(
    session: SessionId, capsys: Capture
) -> None:
    current_operator.enrol("bot", ActorKind.AGENT)
    places.policy_file().write_text(FREE)
    whose = ("--as-operator", "bot", "--", "rm x")

    code, said = tried(
        session, capsys, "--candidate", str(places.policy_file()), *whose
    )
    assert (code, "default-agent" in said, "not in force" in said) == (0, True, True)
    code, said = tried(session, capsys, *whose)
    assert (code, "note: a changed policy is not applied yet" in said) == (77, True)
    facts = json.loads(tried(session, capsys, "--json", *whose)[1])
    assert (facts["in_force"], facts["notices"]) == (True, [policy_files.WAITS])

    places.policy_file().write_text("[default]\nagent = 3\n")
    code, said = tried(
        session, capsys, "--candidate", str(places.policy_file()), *whose
    )
    assert (code, f"{places.policy_file()}: line 2" in said) == (65, True)
    assert f"{places.policy_file()}: line 2" in tried(session, capsys, *whose)[1]


def test_only_whoever_may_grant_tries_a_policy_out(
    session: SessionId, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_AS", "")  # What --as sets is undone.
    places.policy_file().write_text(FREE)
    current_operator.enrol("bot", ActorKind.AGENT)

    tried_by = ["--as", "bot", "gate", "test", session, "--candidate"]
    assert main([*tried_by, str(places.policy_file()), "--", "ls"]) == 77
    assert "may not grant" in capsys.readouterr().err
