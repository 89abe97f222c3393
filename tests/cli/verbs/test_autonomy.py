"""The ladder is shown, a step is proposed with its figures, and a person accepts."""

import json
from pathlib import Path

import pytest
from tests.core.autonomy.written_book import MAKE, acts, write_book
from tests.scenarios.support import apply_policy

from holdfast.cli.main import main
from holdfast.cli.verbs import autonomy
from holdfast.client import current_operator
from holdfast.core.autonomy.ladder import Step
from holdfast.linux.stored import ladder_steps, places, policy_files
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.verdicts import Verdict

SESSION = SessionId("s_" + "a" * 16)
POLICY = '[default]\nagent = "ask"\n[autonomy]\nagent = "allow"\n'


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ActorId:
    for name in ("CONFIG", "STATE", "RUNTIME"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name))
    apply_policy(POLICY)
    return current_operator.enrol("bot", ActorKind.AGENT).actor.id


def rungs() -> dict[tuple[str, str], Verdict]:
    return dict(policy_files.load(policy_files.seal_key()).policy().rungs)


def suggested(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert main(["autonomy", "suggest", "--json"]) == 0
    found: dict[str, str] = json.loads(capsys.readouterr().out)["suggestion"]
    return found


def test_one_step_is_proposed_with_its_figures_and_made_when_accepted(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 40))
    found = suggested(capsys)
    assert (found["actor"], found["action"]) == (bot, MAKE)
    assert (found["from"], found["to"]) == ("ask", "preview")

    main(["autonomy", "suggest"])
    said = capsys.readouterr().out
    assert "40 of 40 acts were clean" in said
    assert f"holdfast autonomy accept {found['code']}" in said

    assert main(["autonomy", "accept", found["code"], "--yes"]) == 0
    assert "goes from ask to preview" in capsys.readouterr().out
    assert rungs() == {(bot, MAKE): Verdict.PREVIEW}
    main(["autonomy"])
    assert MAKE in capsys.readouterr().out
    main(["autonomy", "list", "--json"])
    (rung,) = json.loads(capsys.readouterr().out)["rungs"]
    assert (rung["rung"], rung["acts"]) == ("preview", 0)


def test_the_same_figures_do_not_earn_a_second_step(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 400))
    main(["autonomy", "accept", suggested(capsys)["code"], "--yes", "--json"])
    capsys.readouterr()

    assert suggested(capsys) is None
    assert main(["autonomy", "accept"]) == 0
    assert "Nothing to suggest" in capsys.readouterr().err


def test_only_what_was_shown_can_be_accepted_unseen(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 40))

    assert main(["autonomy", "accept", "00000000", "--yes"]) != 0
    assert main(["autonomy", "accept", "--yes"]) != 0
    assert main(["autonomy", "accept"]) != 0
    assert main(["autonomy", "upward"]) != 0
    assert main(["autonomy", "suggest", "x"]) != 0

    assert rungs() == {}
    assert "something else is suggested" in capsys.readouterr().err


def test_an_agent_cannot_accept(
    bot: ActorId,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 40))
    code = suggested(capsys)["code"]
    monkeypatch.setenv("HOLDFAST_AS", "bot")

    assert main(["autonomy", "accept", code, "--yes"]) != 0

    assert rungs() == {}
    assert "grant" in capsys.readouterr().err


def test_without_autonomy_in_the_policy_nothing_is_proposed(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    apply_policy('[default]\nagent = "ask"\n')
    write_book(places.log_dir(), SESSION, acts(bot, 40))

    main(["autonomy", "suggest"])
    main(["autonomy"])

    said = capsys.readouterr().err
    assert autonomy.OFF in said
    assert autonomy.EMPTY in said


def test_a_code_is_of_one_step() -> None:
    up = Step("a_x", MAKE, Verdict.ASK, Verdict.PREVIEW, "")
    higher = Step("a_x", MAKE, Verdict.PREVIEW, Verdict.ALLOW, "")

    assert autonomy.code_of(up) != autonomy.code_of(higher)
    assert len(autonomy.code_of(up)) == autonomy.CODE
    assert ladder_steps.statement("h", "d", "b").startswith(b"holdfast step 1\n")
