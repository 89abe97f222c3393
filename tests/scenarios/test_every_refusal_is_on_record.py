"""Whoever is turned away is told by what, and the book says that it happened."""

import os
from collections.abc import Iterator

import pytest
from tests.scenarios.support import (
    LIFE,
    Client,
    Machine,
    apply_policy,
    eventually,
    machine,
)

from holdfast.core.book.logbook import Entry, EntryKind, recover, verify
from holdfast.core.input import refusal_counter, serializer
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties
from holdfast.wire.codec import Message

NOBODY = "a_" + "z" * 32


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("sh", "-c", "stty raw -echo; echo ready; exec cat")


def joined(
    here: Machine, session: SessionId, mode: wire.Mode = wire.Mode.OPERATE
) -> Client:
    name = f"bot-{os.urandom(3).hex()}"
    return here.join(session, name, ActorKind.AGENT, mode)


def declined(client: Client) -> list[tuple[object, object, object]]:
    """Return what the book says was turned away of this client's operator."""
    return [
        (one.fields["request"], one.fields["code"], one.fields["count"])
        for one in entries(client.session)
        if one.kind is EntryKind.DECLINED
        and one.fields["actor"] == client.operator.actor.id
    ]


def entries(session: SessionId) -> tuple[Entry, ...]:
    return recover(places.session_log(session).read_bytes(), session).entries


REQUESTS: list[tuple[Message, str, str]] = [
    (wire.Seize(wire.Halt.NONE), "seize", "not-allowed"),
    (wire.Freeze(), "freeze", "not-allowed"),
    (wire.Thaw(), "thaw", "not-allowed"),
    (wire.Take(), "take", "not-your-turn"),
    (wire.Drop(), "drop", "not-your-turn"),
    (wire.Give(NOBODY), "give", "operator-not-here"),  # type: ignore[arg-type]
    (wire.Approve(1, 1, bytes(32)), "approve", "not-allowed"),  # type: ignore[arg-type]
    (wire.Deny(1, bytes(32)), "deny", "not-allowed"),
    (parties.Grant(NOBODY, ("observe",), 0), "grant", "not-allowed"),  # type: ignore[arg-type]
    (parties.Revoke(NOBODY), "revoke", "not-allowed"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("asked", "request_word", "code"), REQUESTS, ids=[one[1] for one in REQUESTS]
)
def test_t69_a_request_that_is_refused_has_a_code_and_an_entry(
    here: Machine, session: SessionId, asked: Message, request_word: str, code: str
) -> None:
    here.join(session).request(wire.Take())
    bot = joined(here, session)

    refused = bot.request(asked)

    assert refused is not None
    assert refused.code == code
    assert declined(bot) == [(request_word, code, 1)]


def test_t69_an_end_that_is_refused_is_on_record(
    here: Machine, session: SessionId
) -> None:
    bot = joined(here, session)

    bot.send(wire.End(15, leave=False))

    assert bot.wait(wire.Refuse).code == "not-allowed"
    assert declined(bot) == [("end", "not-allowed", 1)]


def test_t15_t69_an_observers_input_is_on_record(
    here: Machine, session: SessionId
) -> None:
    eye = joined(here, session, wire.Mode.OBSERVE)

    eye.post(b"x")

    refused = eye.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "not-allowed"
    assert declined(eye) == [("submit", "not-allowed", 1)]


BAD = [
    (InputKind.RESIZE, b"0x0", "malformed-size"),
    (InputKind.RESIZE, b"65535x65535", "malformed-size"),
    (InputKind.RESIZE, b"1001x1", "size-out-of-range"),
    (InputKind.SIGNAL, b"0", "no-such-signal"),
    (InputKind.SIGNAL, b"65", "no-such-signal"),
]


@pytest.mark.parametrize(("kind", "payload", "code"), BAD)
def test_t24_t69_a_size_or_signal_that_is_none_is_refused_and_on_record(
    here: Machine, session: SessionId, kind: InputKind, payload: bytes, code: str
) -> None:
    bot = joined(here, session)

    bot.post(payload, kind)

    refused = bot.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == code
    assert declined(bot) == [("submit", code, 1)]
    assert (here.facts(session) or {})["size"] == [80, 24]


def test_t69_a_gap_is_on_record_and_the_missing_input_may_still_come(
    here: Machine, session: SessionId
) -> None:
    bot = joined(here, session)
    send(bot, 2, b"second")
    refused = bot.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "input-gap"
    assert declined(bot) == [("submit", "input-gap", 1)]
    here.replace_holder(session)
    bot.attach()

    # An entry about what was turned away must not count as an outcome.
    answers = []
    for number, text in enumerate((b"first", b"second"), start=1):
        send(bot, number, text)
        answers.append(bot.settle())

    assert all(isinstance(one, wire.Acknowledge) for one in answers), answers
    bot.wait_output(b"firstsecond")


def send(client: Client, sequence: int, payload: bytes) -> None:
    client.send(
        wire.Submit(
            client=client.client,
            sequence=sequence,
            kind=InputKind.KEYS,
            incarnation=LIFE,
            epoch=client.epoch,
            payload=payload,
            seen=None,
            waits=True,
        )
    )


def test_t23_t69_a_flood_of_refusals_is_counted_and_does_not_fill_the_book(
    here: Machine,
) -> None:
    session = here.new("sh", "-c", "stty raw -echo; echo ready; exec sleep 1000")
    bot = joined(here, session)
    bot.wait_output(b"ready")
    room = serializer.QUEUE_INPUTS
    for _ in range(room + 500):
        bot.post(b"x" * 4000)
    answers = [bot.settle() for _ in range(500 - room)]
    assert {one.code for one in answers if isinstance(one, wire.Refuse)} <= {
        "busy",
        "input-gap",
    }

    eventually("they are counted", lambda: counted(bot) >= len(answers))

    assert len(declined(bot)) <= 2 * (1 + 2 / refusal_counter.WINDOW) * 2
    raw = places.session_log(session).read_bytes()
    assert verify(raw.splitlines(), session).count == len(entries(session))


def counted(client: Client) -> int:
    return sum(int(str(count)) for _, _, count in declined(client))


def test_t23_one_client_more_than_is_remembered_is_refused(
    here: Machine, session: SessionId
) -> None:
    anna = here.join(session)
    anna.wait_output(b"ready")
    anna.request(wire.Take())
    answers = []
    for _ in range(serializer.MAX_CLIENTS):  # The first is who started the session.
        client = here.join(session)
        client.who()
        answers.append(client.enter(b"x"))
        client.close()

    assert all(isinstance(one, wire.Acknowledge) for one in answers[:-1])
    refused = answers[-1]
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "too-many-clients"


def test_t24_only_the_turns_holder_resizes(here: Machine, session: SessionId) -> None:
    anna, bot = here.join(session), joined(here, session)
    anna.request(wire.Take())

    bot.post(b"99x33", InputKind.RESIZE)

    refused = bot.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "not-your-turn"
    assert (here.facts(session) or {})["size"] == [80, 24]
