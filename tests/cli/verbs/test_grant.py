import json

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession

from holdfast.cli.main import main
from holdfast.cli.verbs.grant import duration_ms
from holdfast.client.own_name import login_name
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotAllowed, WiderThanGiven
from holdfast.model.ids import ActorId
from holdfast.wire.presence import Grant, Revoke

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def bot(keeper: FakeKeeper) -> ActorId:
    assert keeper.sessions == []
    known = operators.enrol("bot", ActorKind.AGENT, b"bot", None, b"t" * 32)
    return known.actor.id


def test_a_grant_names_rights_and_how_long(bot: ActorId, web: FakeSession) -> None:
    words = ["grant", "web", "@bot", "take", "input", "--for", "10m"]

    assert main(words) == 0
    assert main(["grant", "web", "bot", "observe", "observe"]) == 0
    assert web.operating.requested == [
        Grant(bot, ("input", "take"), 600_000),
        Grant(bot, ("observe",), 0),
    ]


def test_a_grant_that_is_too_wide_is_refused(
    bot: ActorId, web: FakeSession, capsys: Capture
) -> None:
    web.operating.refusal = WiderThanGiven("seize")

    assert main(["grant", "web", bot, "seize"]) == 77
    assert "cannot grant seize" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["fly"], ["observe", "\x1b[2J"], ["take", "--for", "soon"], ["take", "--for=0s"]],
)
def test_a_right_or_a_time_that_is_none_grants_nothing(
    words: list[str], bot: ActorId, web: FakeSession, capsys: Capture
) -> None:
    assert main(["grant", "web", bot, *words]) == 64
    assert "\x1b" not in capsys.readouterr().err
    assert web.operating.requested == []


@pytest.mark.parametrize(
    ("text", "expected"), [("45s", 45_000), ("2h", 7_200_000), ("1d", 86_400_000)]
)
def test_a_length_of_time_has_a_unit(text: str, expected: int) -> None:
    assert duration_ms(text) == expected


def test_revoke_takes_everything_in_one_session(bot: ActorId, web: FakeSession) -> None:
    assert main(["revoke", "web", "@bot"]) == 0
    assert web.operating.requested == [Revoke(bot)]
    assert operators.by_name("bot") is not None


def test_revoke_everywhere_takes_it_in_every_session_and_forgets_the_key(
    bot: ActorId, keeper: FakeKeeper, capsys: Capture
) -> None:
    one, other, over = keeper.has("one", "other", "over")
    over.exits(0)

    assert main(["revoke", "--everywhere", "@bot", "--json"]) == 0

    assert one.operating.requested == other.operating.requested == [Revoke(bot)]
    assert over.operating.requested == []
    assert json.loads(capsys.readouterr().out)["revoked"] == [one.id, other.id]
    assert operators.by_name("bot") is None


def test_a_session_that_refuses_keeps_no_other_from_revoking(
    bot: ActorId, keeper: FakeKeeper, capsys: Capture
) -> None:
    one, other = keeper.has("one", "other")
    one.operating.refusal = NotAllowed("a_x", "grant")

    assert main(["revoke", "--everywhere", "bot"]) == 77

    assert other.operating.requested == [Revoke(bot)]
    assert "one could not revoke bot" in capsys.readouterr().err
    assert operators.by_name("bot") is not None


@pytest.mark.parametrize(
    "words",
    [["web"], ["web", "bot", "x"], ["--everywhere", "web", "bot"], ["--everywhere"]],
)
def test_revoke_wants_to_know_exactly_where_and_whom(
    words: list[str], bot: ActorId, web: FakeSession
) -> None:
    if len(words) > 1 or words == ["web"]:
        assert main(["revoke", *words]) == 64
    else:
        with pytest.raises(SystemExit):
            main(["revoke", *words])
    assert web.operating.requested == []
    assert operators.by_actor(bot) is not None


def test_nobody_revokes_themselves_everywhere(web: FakeSession) -> None:
    assert main(["revoke", "--everywhere", login_name()]) == 64
    assert web.operating.requested == []
