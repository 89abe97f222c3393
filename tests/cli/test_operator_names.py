import pytest
from tests.cli.support.fakes import US, FakeKeeper
from tests.cli.support.operating import OTHER, robo

from holdfast.cli.operator_names import NOBODY, Names, operator_from
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import UnknownOperator


@pytest.fixture
def bot(keeper: FakeKeeper) -> Enrolled:
    assert keeper.asked == []
    return operators.enrol("Bot", ActorKind.AGENT, b"bot", None, b"t" * 32)


def test_an_operator_is_found_by_name_id_and_fingerprint(bot: Enrolled) -> None:
    actor = bot.actor
    for text in ("@bot", "BOT", actor.id, "@" + actor.id, actor.fingerprint()):
        assert operator_from(text) == bot


@pytest.mark.parametrize("text", ["", "@", "bo", "a_", "nobody", "\x1b[2J", "@../bot"])
def test_anything_else_is_nobody(text: str, bot: Enrolled) -> None:
    with pytest.raises(UnknownOperator) as raised:
        operator_from(text)

    assert "\x1b" not in str(raised.value)
    assert operators.by_name("bot") == bot


def test_what_fits_two_is_not_guessed(bot: Enrolled) -> None:
    letters = bot.actor.fingerprint()

    with pytest.raises(UnknownOperator):
        operator_from(letters[:3])


def test_names_come_from_this_machine_and_from_the_holder(bot: Enrolled) -> None:
    names = Names(US)
    names.meet([robo("ro\x1bbo")])

    assert names.shown(bot.actor.id) == bot.actor.shown()
    assert names.shown(OTHER).startswith("ro\\x1bbo (agent, ")
    assert names.you(US) == "you"
    assert names.you(NOBODY) == "nobody"


def test_a_stranger_is_shown_by_fingerprint_and_vouched_for_by_nobody(
    keeper: FakeKeeper,
) -> None:
    assert keeper.sessions == []
    assert Names().shown(OTHER) == f"unknown ({OTHER[2:10]})"


def test_ids_in_a_sentence_become_names(bot: Enrolled) -> None:
    told = Names(US).told(f"{bot.actor.id} met a_cat and {OTHER}")

    assert told == f"{bot.actor.shown()} met a_cat and unknown ({OTHER[2:10]})"
