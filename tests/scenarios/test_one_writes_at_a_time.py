import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties

AGENTS_MAY = '[default]\nagent = "allow"\n'


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy(AGENTS_MAY)
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("sh", "-c", "stty raw -echo; echo ready; cat")


ROUTES = [
    (InputKind.KEYS, b"x"),
    (InputKind.KEYS, b"\x1b[200~pasted\x1b[201~"),
    (InputKind.COMMAND, b"ls\r"),
    (InputKind.SIGNAL, b"2"),
    (InputKind.RESIZE, b"99x33"),
    (InputKind.ANSWER, b"secret\r"),
]


def crowd(here: Machine, session: SessionId, size: int = 4) -> list[Client]:
    run = os.urandom(3).hex()
    return [
        here.join(session, f"bot{number}-{run}", ActorKind.AGENT)
        for number in range(size)
    ]


def test_a3_only_the_turns_holder_writes_whatever_the_route(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    anna.wait_output(b"ready")
    others = crowd(here, session)
    assert anna.request(wire.Take()) is None
    epoch = anna.who().epoch

    for client in others:
        for kind, payload in ROUTES:
            client.post(payload, kind)
    for client in others:
        for _ in ROUTES:
            refused = client.settle()
            assert isinstance(refused, wire.Refuse)
            assert refused.code == "not-your-turn"
            assert refused.facts == {
                "holder": anna.operator.actor.id,
                "epoch": epoch,
            }
    anna.enter(b"only this")

    assert anna.wait_output(b"only this").split() == [b"ready", b"only", b"this"]
    facts = here.facts(session)
    assert facts is not None
    assert facts["size"] == [80, 24]


def test_t15_an_observer_writes_nothing(here: Machine, session: SessionId) -> None:
    anna = here.join(session)
    anna.wait_output(b"ready")
    watcher = here.join(session, f"eye-{os.getpid()}", mode=wire.Mode.OBSERVE)

    for kind, payload in ROUTES:
        watcher.post(payload, kind)
        refused = watcher.settle()
        assert isinstance(refused, wire.Refuse)
        assert refused.code == "not-allowed"
    anna.enter(b"mine")

    assert anna.wait_output(b"mine").split() == [b"ready", b"mine"]


def test_t16_knowing_the_session_gives_nothing(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    mallory = here.join(session, f"mal-{os.getpid()}", ActorKind.AGENT)
    mallory.operator = anna.operator.__class__(
        anna.operator.actor, anna.operator.public_key, mallory.operator.folder
    )

    refused = mallory.greet()

    assert isinstance(refused, wire.Refuse)
    assert refused.code == "not-proven"


def test_a5_a_request_reaches_the_holder_and_is_answered(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    bot = crowd(here, session, 1)[0]
    anna.request(wire.Take())

    bot.send(wire.Ask(60_000))

    asked = anna.wait(wire.TurnAsked)
    assert asked.asker == bot.operator.actor.id
    assert anna.who().waiting == (bot.operator.actor.id,)
    anna.send(wire.Answer(asked.asker, granted=True))
    eventually("the turn", lambda: bot.who().holder == bot.operator.actor.id)


def test_a5_a_request_that_nobody_answers_ends_as_configured(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    bot = crowd(here, session, 1)[0]
    anna.request(wire.Take())

    bot.send(wire.Ask(100))

    refused = bot.wait(wire.Refuse)
    assert refused.code == "ask-refused"
    assert bot.who().holder == anna.operator.actor.id


def test_a5_a_turn_is_given_only_to_who_is_here(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    bot = crowd(here, session, 1)[0]
    anna.request(wire.Take())
    bot_id = bot.operator.actor.id

    assert anna.request(wire.Give(bot_id)) is None
    assert anna.who().holder == bot_id

    bot.request(wire.Give(anna.operator.actor.id))
    bot.close()
    eventually("the bot is gone", lambda: len(anna.who().present) == 1)
    refused = anna.request(wire.Give(bot_id))
    assert refused is not None
    assert refused.code == "operator-not-here"


def test_t21_whoever_takes_over_is_shown_what_stands_typed_and_by_whom(
    here: Machine,
) -> None:
    session = here.new("cat")
    bot = crowd(here, session, 1)[0]
    anna = here.join(session)
    bot.enter(b"rm -rf /tmp/x")

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None

    inherited = anna.wait(parties.Inherited)
    assert inherited.staged == b"rm -rf /tmp/x"
    assert inherited.by == (bot.operator.actor.id,)


def test_t21_what_stands_typed_is_known_to_the_next_holder_process(
    here: Machine,
) -> None:
    session = here.new("cat")
    bot = crowd(here, session, 1)[0]
    bot.enter(b"half")
    here.replace_holder(session)
    anna = here.join(session)

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None

    assert anna.wait(parties.Inherited).staged == b"half"


def test_t17_a_revoked_operator_is_hung_up_on_and_stays_out(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    bot = crowd(here, session, 1)[0]
    bot.request(wire.Take())

    assert anna.request(parties.Revoke(bot.operator.actor.id)) is None

    assert anna.who().holder == ""
    goodbye = bot.wait(wire.Goodbye)
    assert goodbye.code == "not-allowed"
    here.replace_holder(session)
    refused = bot.greet()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "not-allowed"


def test_rights_are_passed_on_in_part_and_for_a_while(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    bot = crowd(here, session, 1)[0]
    bot_id = bot.operator.actor.id
    assert bot.request(wire.Seize(wire.Halt.NONE)) is not None

    assert (
        anna.request(parties.Grant(bot_id, ("observe", "seize", "grant"), 60_000))
        is None
    )

    assert bot.request(wire.Seize(wire.Halt.NONE)) is None
    assert bot.who().rights == ("grant", "observe", "seize")
    wider = bot.request(parties.Grant(anna.operator.actor.id, ("end",), 0))
    assert wider is not None
    assert wider.code == "wider-than-given"
    nonsense = anna.request(parties.Grant(bot_id, ("rule-the-world",), 0))
    assert nonsense is not None
    assert nonsense.code == "no-such-right"


def test_an_agent_may_end_what_it_started_and_nothing_else(here: Machine) -> None:
    name = f"ender-{os.getpid()}"
    rule = '[[rule]]\nverdict = "allow"\nkind = "agent"\ninput = "start"\n'
    apply_policy(AGENTS_MAY + rule)
    theirs = here.new("sleep", "100")
    bot = here.join(theirs, name, ActorKind.AGENT)
    own = here.new("sleep", "100", creator=bot.operator.actor.id)

    bot.send(wire.End(15, leave=False))
    refused = bot.wait(wire.Refuse)

    assert (refused.code, refused.facts["right"]) == ("not-allowed", "end")
    again = Client(own, bot.operator)
    here.clients.append(again)
    again.send(wire.End(15, leave=False))
    assert again.wait(wire.Exited).status == -15
    assert Path(places.session_log(own)).read_bytes().count(b'"kind":"ending"') == 1
