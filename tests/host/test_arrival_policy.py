"""What the policy of a host says to a session that another one wants to bring."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.client import current_operator, policies
from holdfast.core.policy.policy import Judgement
from holdfast.core.policy.session_start import NO_RIGHT, RIGHT_TO_MOVE
from holdfast.host.arrival_policy import UNAVAILABLE, verdict_on
from holdfast.host.guests import Guest, guest_of
from holdfast.linux import packets
from holdfast.linux.judge_packets import MAX_PACKET, Answer, Ask
from holdfast.linux.stored import operators, places, policy_files
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import MalformedId
from holdfast.model.session_requests import OfferMove
from holdfast.model.verdicts import Verdict

OFFER = OfferMove(
    id="s_" + "a" * 16,
    name="web",
    command=("/bin/sh", "-c", "true"),
    cwd="/",
    first_name="build",
)
DENIES = '[[rule]]\nname = "none"\ninput = "start"\nverdict = "deny"\n'
HOOK = '[webhook]\nurl = "http://127.0.0.1:9/judge"\n'


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder))


@pytest.fixture
def mover() -> Guest:
    return guest(Right.MOVE, Right.CREATE)


def guest(*rights: Right) -> Guest:
    terms = Terms("ab", Envelope(frozenset(rights)))
    operators.enrol("alpha", ActorKind.SERVICE, b"k" * 32, None, b"t" * 32, terms)
    found = guest_of(b"k" * 32)
    assert found is not None
    return found


def apply(text: str) -> None:
    places.policy_file().write_text(text)
    policies.apply(current_operator.ourselves(), policy_files.standing())


@pytest.fixture
def judge() -> Iterator[list[Judgement | str | None]]:
    """Answer what the judge is asked, as the list says; a text is how it fails."""
    says: list[Judgement | str | None] = []
    listener = packets.listen(places.judge_socket())
    listener.settimeout(20)

    def answer() -> None:
        try:
            link, _ = listener.accept()
        except OSError:
            return
        with link:
            ask = Ask.from_bytes(link.recv(MAX_PACKET))
            commands = ask.question["commands"]
            assert isinstance(commands, list)
            assert commands[0] == ["/bin/sh", "-c", "true"]
            [said] = says
            if isinstance(said, str):
                link.send(said.encode())
            else:
                link.send(Answer(ask.ticket, said).to_bytes())

    thread = threading.Thread(target=answer)
    thread.start()
    yield says
    listener.close()
    thread.join()


def test_a_host_that_may_bring_sessions_is_let_in_where_nothing_is_said(
    mover: Guest,
) -> None:
    assert verdict_on(mover, OFFER) == Judgement(Verdict.ALLOW, RIGHT_TO_MOVE)


def test_a_rule_about_starts_denies_before_anything_is_stopped(mover: Guest) -> None:
    apply(DENIES)

    said = verdict_on(mover, OFFER)

    assert (said.verdict, said.rule) == (Verdict.DENY, "none")


def test_the_first_name_is_what_rules_know_it_by(mover: Guest) -> None:
    apply(DENIES + 'session = "build"\n')
    assert verdict_on(mover, OFFER).verdict is Verdict.DENY
    assert verdict_on(mover, OFFER._replace(first_name="")).verdict is Verdict.ALLOW


def test_who_may_not_start_anything_brings_nothing() -> None:
    said = verdict_on(guest(Right.MOVE), OFFER)

    assert (said.verdict, said.rule) == (Verdict.DENY, NO_RIGHT)


def test_a_command_that_is_not_told_is_judged_as_any_command(mover: Guest) -> None:
    apply('[[rule]]\nname = "no-sh"\nfirst = ["rm"]\nverdict = "deny"\n')

    assert verdict_on(mover, OFFER).verdict is Verdict.ALLOW
    said = verdict_on(mover, OFFER._replace(command=()))
    assert said.verdict is not Verdict.ALLOW


def test_the_interpreter_of_a_script_is_judged_with_an_exec_gate(
    mover: Guest, tmp_path: Path
) -> None:
    script = tmp_path / "run"
    script.write_text("#!/bin/cat\n")
    script.chmod(0o755)
    apply('[[rule]]\nname = "no-cat"\nfirst = ["cat"]\nverdict = "deny"\n')
    gated = OFFER._replace(command=(str(script),), cwd=str(tmp_path), exec_gate=True)

    assert verdict_on(mover, gated).rule == "no-cat"


def test_a_policy_that_was_tampered_with_lets_no_host_in(mover: Guest) -> None:
    apply(DENIES)
    Path(policy_files.record_path()).write_bytes(b"nonsense")

    assert verdict_on(mover, OFFER).verdict is Verdict.DENY


def test_what_names_no_session_is_refused(mover: Guest) -> None:
    with pytest.raises(MalformedId):
        verdict_on(mover, OFFER._replace(id="web"))


def test_plug_ins_and_webhook_are_asked_too(
    mover: Guest, judge: list[Judgement | str | None]
) -> None:
    apply(HOOK)
    judge.append(Judgement(Verdict.DENY, "webhook", "not today"))

    assert verdict_on(mover, OFFER).why == "not today"


def test_a_judge_without_an_opinion_leaves_it_to_the_rules(
    mover: Guest, judge: list[Judgement | str | None]
) -> None:
    apply(HOOK)
    judge.append(None)

    assert verdict_on(mover, OFFER).verdict is Verdict.ALLOW


def test_a_judge_that_talks_nonsense_is_a_no(
    mover: Guest, judge: list[Judgement | str | None]
) -> None:
    apply(HOOK)
    judge.append("nonsense")

    assert verdict_on(mover, OFFER).rule == UNAVAILABLE


def test_a_judge_that_is_not_there_is_a_no(mover: Guest) -> None:
    apply(HOOK)

    said = verdict_on(mover, OFFER)

    assert (said.verdict, said.rule) == (Verdict.DENY, UNAVAILABLE)
    assert "webhook" in said.why
