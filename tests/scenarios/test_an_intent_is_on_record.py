from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, machine

from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire.intents import Intend
from holdfast.wire.presence import Grant

SAID = Intend(
    act="run",
    intent="see what fails",
    effect="none",
    parameters="{}",
    prompt="m-17",
    expects="",
    idempotent=False,
    attempt=1,
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def entries(session: SessionId) -> tuple[Entry, ...]:
    return recover(places.session_log(session).read_bytes(), session).entries


def test_an_intent_is_written_down_by_whom_it_was_said(here: Machine) -> None:
    session = here.new("sleep", "600")
    bot = here.join(session, "bot", ActorKind.AGENT)

    assert bot.request(SAID) is None

    (said,) = [one for one in entries(session) if one.kind is EntryKind.INTENDED]
    assert said.fields["actor"] == bot.operator.actor.id
    assert said.fields["intent"] == "see what fails"


def test_whoever_may_only_watch_writes_nothing_into_the_book(here: Machine) -> None:
    session = here.new("sleep", "600")
    bot = here.join(session, "bot", ActorKind.AGENT)
    us = here.join(session)
    assert us.request(Grant(bot.operator.actor.id, ("observe",), 0)) is None

    refused = bot.request(SAID)

    assert refused is not None
    assert refused.code == "not-allowed"
    assert EntryKind.INTENDED not in {one.kind for one in entries(session)}


def test_a_flood_of_intents_is_refused_and_the_book_stays_short(here: Machine) -> None:
    session = here.new("sleep", "600")
    bot = here.join(session, "bot", ActorKind.AGENT)

    answers = [bot.request(SAID) for _ in range(400)]

    assert {one.code for one in answers if one is not None} == {"asked-too-often"}
    said = [one for one in entries(session) if one.kind is EntryKind.INTENDED]
    assert len(said) == answers.count(None) < 400
