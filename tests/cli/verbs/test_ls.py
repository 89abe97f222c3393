import json

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession

from holdfast.cli.main import main
from holdfast.client import current_operator, policies
from holdfast.linux.stored import places, policy_files
from holdfast.model.actors import ActorKind

Capture = pytest.CaptureFixture[str]
POLICY = '[[rule]]\nname = "r"\nverdict = "deny"\nkind = "agent"\nfirst = "rm"\n'


def apply() -> None:
    """Have what is written hold."""
    policies.apply(
        current_operator.enrol("anna", ActorKind.HUMAN), policy_files.standing()
    )


def test_a_changed_policy_that_waits_is_told_until_it_is_applied(
    web: FakeSession, capsys: Capture
) -> None:
    places.policy_file().write_text(POLICY)

    assert main(["ls"]) == 0
    table, told = capsys.readouterr()
    assert web.id in table
    assert "a changed policy is not applied yet: run `holdfast gate apply`" in told
    assert main(["ls", "--json"]) == 0
    (notice,) = json.loads(capsys.readouterr().out)["notices"]
    assert "is not applied yet" in notice

    apply()
    assert main(["ls"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notices"] == []


def test_a_policy_that_was_removed_and_one_with_a_mistake_are_told(
    web: FakeSession, capsys: Capture
) -> None:
    del web
    places.policy_file().write_text(POLICY)
    apply()

    places.policy_file().unlink()
    assert main(["ls"]) == 0
    assert "is not applied yet" in capsys.readouterr().err
    places.policy_file().write_text("[[rule]]\nname = 3\n")
    assert main(["ls"]) == 0
    assert "not valid and not in force" in capsys.readouterr().err


def test_names_for_completion_are_names_alone(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    keeper.has("web")
    places.policy_file().write_text(POLICY)

    assert main(["ls", "--names"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("web\n", "")


@pytest.mark.parametrize("word", ["box", "box/web"])
def test_a_policy_is_not_applied_at_somebody_unknown(
    keeper: FakeKeeper, word: str, capsys: Capture
) -> None:
    assert main(["gate", "apply", word]) == 64
    assert "which takes no arguments" in capsys.readouterr().err
    assert keeper.asked == []


@pytest.mark.parametrize("words", [["ls"], ["ls", "--all"]])
def test_who_calls_for_somebody_is_marked(
    words: list[str], web: FakeSession, capsys: Capture
) -> None:
    assert main(words) == 0
    assert "calls you" not in capsys.readouterr().out
    call = {"what": "bell", "text": "", "since_ms": 1, "source": "program"}
    web.facts["attention"] = call

    assert main(words) == 0

    assert "calls you" in capsys.readouterr().out
    web.facts["attention"] = {**call, "what": ""}
    assert main(words) == 0
    assert "calls you" not in capsys.readouterr().out
