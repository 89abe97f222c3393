"""Who is told of what waits for approval, and of how it ended."""

from collections.abc import Iterator

import pytest
from tests.holder.input_world import Client, World, world
from tests.scenarios.support import apply_policy

from holdfast.core.input import turn
from holdfast.core.input.serializer import Answer
from holdfast.holder.links.notifications import told
from holdfast.model.actors import ActorKind
from holdfast.model.errors import TurnMoved
from holdfast.model.ids import ENTROPY, NO_EPOCH, Epoch, Index, client_id
from holdfast.model.inputs import InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Cut, Dropped, Refused, Unknown
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import Message
from holdfast.wire.frames import FrameKind

CLIENT = client_id(b"c" * ENTROPY)
GIVEN = InputId(CLIENT, 4)
FIVE = Index(5)


@pytest.fixture
def here(own_folders: None) -> Iterator[World]:
    del own_folders
    with world() as made:
        yield made


def pending(
    number: int, actor: str, kind: InputKind = InputKind.COMMAND
) -> wire.Pending:
    return wire.Pending(
        ticket=number,
        actor=actor,  # type: ignore[arg-type]  # a text
        kind=kind,
        epoch=Epoch(1),
        digest=b"d" * 32,
        size=2,
        excerpt=b"ls",
        rule="",
        program="/bin/ls",
        runs="",
        uses=(),
        preview=None,
    )


def heard(client: Client, kind: type[Message]) -> list[Message]:
    return [one for one in client.told() if isinstance(one, kind)]


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Applied(FIVE), wire.Acknowledge(CLIENT, 4, FIVE, None)),
        (Dropped(FIVE), wire.Report(CLIENT, 4, wire.Ending.DROPPED, FIVE, 0)),
        (Cut(FIVE, 3), wire.Report(CLIENT, 4, wire.Ending.CUT, FIVE, 3)),
        (Unknown(FIVE), wire.Report(CLIENT, 4, wire.Ending.UNKNOWN, FIVE, 0)),
    ],
)
def test_an_outcome_is_told_by_its_word(outcome: Applied, message: Message) -> None:
    assert told(GIVEN, outcome) == message


def test_a_refusal_names_the_input() -> None:
    said = told(GIVEN, Refused(TurnMoved("", NO_EPOCH)))

    assert isinstance(said, wire.Refuse)
    assert (said.refused, said.code) == (FrameKind.SUBMIT, "turn-moved")
    assert (said.client, said.sequence) == (CLIENT, 4)


def test_an_exec_that_waits_is_shown_to_who_may_approve_or_asked(here: World) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    other = here.join("other", ActorKind.AGENT)
    notifications = here.session.notifications

    notifications.show_exec(pending(7, bot.id))

    for client in (anna, bot):
        (shown,) = heard(client, wire.Pending)
        assert isinstance(shown, wire.Pending)
        assert shown.ticket == 7
    assert heard(other, wire.Pending) == []

    notifications.settle_exec(7, Verdict.ALLOW, anna.id)

    for client in (anna, bot):
        assert heard(client, wire.Settled) == [wire.Settled(7, Verdict.ALLOW, anna.id)]
    assert heard(other, wire.Settled) == []
    assert notifications.pending == ()


def test_a_newcomer_is_shown_what_waits_if_it_may_approve_or_asked(
    here: World,
) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    other = here.join("other", ActorKind.AGENT)
    notifications = here.session.notifications
    notifications.show_exec(pending(7, bot.id))
    for client in (anna, bot, other):
        client.told()

    for client in (anna, bot, other):
        notifications.welcome(client.connection, client.id)

    assert [len(heard(one, wire.Pending)) for one in (anna, bot, other)] == [1, 1, 0]


def test_no_more_is_listed_than_a_list_may_have(here: World) -> None:
    notifications = here.session.notifications
    for number in range(presence.MAX_PENDING + 2):
        notifications.show_exec(pending(number, "a_x"))

    assert [one.ticket for one in notifications.pending] == [
        *range(presence.MAX_PENDING)
    ]


def test_a_refusal_goes_to_who_asked_for_what_it_asked(here: World) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    notifications = here.session.notifications
    refused = turn.Refuse(anna.id, TurnMoved("", NO_EPOCH))

    with notifications.serving(anna.connection, FrameKind.TAKE):
        assert notifications.refuse(refused) is FrameKind.TAKE
    with notifications.serving(bot.connection, FrameKind.TAKE):
        assert notifications.refuse(refused) is FrameKind.ASK
    assert notifications.refuse(refused) is FrameKind.ASK

    kinds = [
        one.refused for one in heard(anna, wire.Refuse) if isinstance(one, wire.Refuse)
    ]
    assert kinds == [FrameKind.TAKE, FrameKind.ASK, FrameKind.ASK]
    assert heard(bot, wire.Refuse) == []


@pytest.mark.parametrize(
    ("by", "wait_ms"), [(10.5, 500), (9.0, 0), (10.0**9, wire.MAX_ASK_MS)]
)
def test_the_holder_is_told_how_long_somebody_waits(
    here: World, by: float, wait_ms: int
) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    asked = turn.AskHolder(anna.id, bot.id, by)
    here.session.notifications.asked(asked, Moment(10.0, 0.0))

    assert heard(anna, wire.TurnAsked) == [wire.TurnAsked(bot.id, wait_ms)]
    assert heard(bot, wire.TurnAsked) == []


def test_an_answer_goes_where_the_client_was_heard_last(here: World) -> None:
    anna = here.join()
    again = here.join()
    client = anna.connection.client
    assert client is not None
    notifications = here.session.notifications
    notifications.sent_by(anna.id, client, anna.connection)
    notifications.sent_by(anna.id, client, again.connection)
    notifications.left(anna.id, anna.connection)  # It is back already.

    notifications.answer(Answer(anna.id, InputId(client, 1), Dropped(FIVE)))

    assert heard(anna, wire.Report) == []
    assert len(heard(again, wire.Report)) == 1
    notifications.left(anna.id, again.connection)
    notifications.answer(Answer(anna.id, InputId(client, 2), Dropped(FIVE)))
    assert heard(again, wire.Report) == []


def test_what_waited_is_settled_for_everybody_by_who_decided(here: World) -> None:
    apply_policy('[[rule]]\nverdict = "ask"\nkind = "agent"\n')
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    notifications = here.session.notifications
    bot.submit(b"ls\r")
    (shown,) = heard(anna, wire.Pending)
    assert isinstance(shown, wire.Pending)
    assert (shown.excerpt, shown.size, shown.actor) == (b"ls\r", 3, bot.id)
    held = notifications.held
    assert held is not None
    assert held == (shown.ticket, bot.id, bot.connection.client)

    here.requests.take(anna.connection, wire.Deny(shown.ticket, shown.digest))

    assert heard(anna, wire.Settled) == [
        wire.Settled(shown.ticket, Verdict.DENY, anna.id)
    ]
    assert notifications.held is None
