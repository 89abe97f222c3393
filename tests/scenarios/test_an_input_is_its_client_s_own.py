"""A link sends inputs for clients of its own operator, and for nobody else's."""

import os
from collections.abc import Iterator

import pytest
from tests.scenarios.support import LIFE, Client, Machine, apply_policy, machine
from tests.scenarios.typed import is_typed

from holdfast.core.book.logbook import recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ENTROPY, ActorId, ClientId, SessionId, client_id
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def submit(link: Client, client: ClientId, sequence: int, payload: bytes) -> object:
    link.send(
        wire.Submit(
            client=client,
            sequence=sequence,
            kind=InputKind.KEYS,
            incarnation=LIFE,
            epoch=link.epoch,
            payload=payload,
            seen=None,
            waits=True,
        )
    )
    return link.wait(wire.Refuse, wire.Acknowledge)


def authors(session: SessionId) -> list[ActorId]:
    book = recover(places.session_log(session).read_bytes(), session).entries
    return [ActorId(str(one.fields["actor"])) for one in book if is_typed(one)]


def test_a_link_may_send_for_another_client_of_its_operator(here: Machine) -> None:
    session = here.new("cat")
    anna = here.join(session)
    anna.enter(b"mine\r")

    heard = submit(anna, client_id(os.urandom(ENTROPY)), 1, b"also mine\r")

    assert isinstance(heard, wire.Acknowledge)
    assert authors(session) == [anna.operator.actor.id] * 2


def test_an_input_under_another_operator_s_client_is_its_sender_s(
    here: Machine,
) -> None:
    session = here.new("cat")
    anna = here.join(session)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna.enter(b"one\r")
    assert anna.request(wire.Drop()) is None
    assert not bot.who().holder

    # To the holder this is a client of the bot's that begins to count.
    gap = submit(bot, anna.client, anna.number + 1, b"as if by anna\r")
    first = submit(bot, anna.client, 1, b"by the bot\r")

    assert isinstance(gap, wire.Refuse)
    assert gap.code == "input-gap"
    assert isinstance(first, wire.Acknowledge)
    assert bot.request(wire.Drop()) is None
    assert not anna.who().holder
    assert isinstance(anna.enter(b"two\r"), wire.Acknowledge)
    us, them = anna.operator.actor.id, bot.operator.actor.id
    assert authors(session) == [us, them, us]
    assert b"as if" not in anna.output
