import json

import pytest
from tests.cli.support.fakes import US, FakeKeeper

from holdfast.cli.main import main
from holdfast.client.own_name import login_name
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right

Capture = pytest.CaptureFixture[str]


def test_the_list_says_who_is_known_and_as_whom_we_act(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    operators.enrol("zoe", ActorKind.DEVICE, b"zoe", None, b"t" * 32)

    assert main(["operators"]) == 0

    title, us, zoe = capsys.readouterr().out.splitlines()
    assert title.split() == ["NAME", "KIND", "FINGERPRINT", "FROM"]
    assert us.split()[:2] == [login_name(), "human"]
    assert us.split()[2].replace("-", "") == US[2:18]
    assert us.endswith("you act as this one")
    assert zoe.split()[:2] == ["zoe", "device"]
    assert zoe.endswith("elsewhere")
    assert keeper.asked == []


def test_whoever_came_by_an_invitation_is_shown_with_what_it_was_promised(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    terms = operators.Terms("ab" * 16, Envelope(frozenset({Right.OBSERVE})))
    operators.enrol("zoe", ActorKind.DEVICE, b"zoe", None, b"t" * 32, terms)

    assert main(["operators"]) == 0
    _, _, zoe = capsys.readouterr().out.splitlines()
    assert zoe.endswith("elsewhere, by invitation abababab  may observe")
    assert main(["operators", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["operators"][1]
    assert (facts["from"], facts["rights"]) == ("invite", ["observe"])
    assert keeper.asked == []


def test_the_list_is_there_for_programs_and_for_completion(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    assert main(["operators", "--json"]) == 0
    (us,) = json.loads(capsys.readouterr().out)["operators"]
    assert (us["actor"], us["kind"], us["us"]) == (US, "human", True)
    assert main(["operators", "--names"]) == 0
    assert capsys.readouterr().out.split() == [login_name()]
    assert keeper.asked == []


def test_whoever_is_added_has_a_key_and_is_an_agent_unless_said(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    assert main(["operators", "add", "bot"]) == 0
    assert main(["operators", "add", "ci", "--kind", "service"]) == 0

    bot, ci = operators.by_name("bot"), operators.by_name("ci")
    assert bot is not None
    assert ci is not None
    assert (bot.actor.kind, ci.actor.kind) == (ActorKind.AGENT, ActorKind.SERVICE)
    assert len(bot.seed()) == 32
    assert bot.actor.compared() in capsys.readouterr().out
    assert keeper.asked == []


def test_a_name_is_given_once(keeper: FakeKeeper, capsys: Capture) -> None:
    assert main(["operators", "add", "bot"]) == 0
    before = operators.by_name("bot")

    assert main(["operators", "add", "BOT", "--kind", "human"]) == 64
    assert "already exists" in capsys.readouterr().err
    assert operators.by_name("bot") == before
    assert keeper.asked == []


def test_whoever_is_removed_is_unknown(keeper: FakeKeeper) -> None:
    main(["operators", "add", "bot"])

    assert main(["operators", "remove", "@bot"]) == 0
    assert operators.by_name("bot") is None
    assert main(["operators", "remove", "bot"]) == 77
    assert keeper.asked == []


def test_nobody_removes_themselves(keeper: FakeKeeper) -> None:
    assert main(["operators", "remove", login_name()]) == 64
    assert operators.by_name(login_name()) is not None
    assert keeper.asked == []


@pytest.mark.parametrize(
    "words",
    [
        ["add"],
        ["remove"],
        ["--kind", "agent"],
        ["remove", "x", "--kind", "agent"],
        ["add", "../../x"],
        ["add", "a_b"],
        ["add", "\x1b[2J"],
    ],
)
def test_what_makes_no_sense_changes_nothing(
    words: list[str], keeper: FakeKeeper, capsys: Capture
) -> None:
    assert main(["operators", *words]) == 64
    assert "\x1b" not in capsys.readouterr().err
    assert len(operators.enrolled()) == 1
    assert keeper.asked == []
