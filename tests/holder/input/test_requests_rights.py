"""What operators may do, what they mean, and what they are told when they ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import SESSION, Client
from tests.holder.requests_world import Here, refusals, requested
from tests.scenarios.support import apply_policy, eventually

from holdfast.client import current_operator
from holdfast.client.own_name import login_name
from holdfast.client.proven_requests import change_proven
from holdfast.core.book.logbook import EntryKind
from holdfast.holder.input.requests import BURST
from holdfast.holder.moment import now
from holdfast.linux import packets
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Right
from holdfast.model.errors import NotAllowed, NotProven, SessionNotFound
from holdfast.model.ids import ActorId, client_id
from holdfast.model.inputs import InputKind
from holdfast.model.session_requests import Rename, packet_of
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire import presence
from holdfast.wire.codec import Message
from holdfast.wire.frames import FrameKind
from holdfast.wire.intents import Intend
from holdfast.wire.trials import Tried, Try

ASK = '[default]\nagent = "ask"\n'
ALLOW = '[default]\nagent = "allow"\n'
DENY = '[default]\nagent = "deny"\n'
NOBODY = ActorId("")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    with requested(tmp_path, monkeypatch) as made:
        yield made


def told_presence(said: list[Message]) -> presence.Presence:
    (found,) = [one for one in said if isinstance(one, presence.Presence)]
    return found


# ── rights ────────────────────────────────────────────────────────────────────


def test_a_grant_holds_for_as_long_as_it_says(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    here.ask(anna, presence.Grant(bot.id, ("observe", "seize"), 0))
    forever = here.intake.rights.envelope_of(bot.id)
    here.ask(anna, presence.Grant(bot.id, ("observe", "seize"), 60_000))
    for_a_while = here.intake.rights.envelope_of(bot.id)

    assert forever is not None
    assert for_a_while is not None
    assert forever.rights == for_a_while.rights == {Right.OBSERVE, Right.SEIZE}
    assert forever.expires_wall is None
    assert for_a_while.expires_wall is not None
    (_, granted) = here.fields(EntryKind.GRANTED)[-2:]
    assert (granted["actor"], granted["by"]) == (bot.id, anna.id)
    here.ask(bot, wire.Seize(wire.Halt.NONE))
    assert here.world.holder == bot.id


def test_a_grant_that_has_expired_is_none(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    here.ask(anna, presence.Grant(bot.id, ("observe", "seize"), 1))

    def is_refused() -> bool:
        said = here.ask(bot, wire.Seize(wire.Halt.NONE))
        return refusals(said) == [("not-allowed", FrameKind.SEIZE)]

    eventually("it may seize no more", is_refused)


def test_a_right_that_there_is_not_cannot_be_granted(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    before = here.intake.rights.envelope_of(bot.id)

    said = here.ask(anna, presence.Grant(bot.id, ("fly",), 0))

    assert refusals(said) == [("no-such-right", FrameKind.GRANT)]
    assert here.intake.rights.envelope_of(bot.id) == before


def test_only_who_may_grant_grants_and_revokes(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    before = here.intake.rights.envelope_of(anna.id)

    for message in (presence.Grant(bot.id, ("seize",), 0), presence.Revoke(anna.id)):
        said = here.ask(bot, message)
        assert [code for code, _ in refusals(said)] == ["not-allowed"]

    assert here.intake.rights.envelope_of(anna.id) == before
    assert not anna.connection.is_closed


def test_every_client_of_who_is_revoked_is_told_so_and_sent_away(here: Here) -> None:
    anna, bert, carl = here.join(), here.join("bert"), here.join("carl")

    here.ask(anna, presence.Revoke(bert.id))

    (goodbye,) = [one for one in bert.told() if isinstance(one, wire.Goodbye)]
    assert goodbye.code == "not-allowed"
    assert bert.id in goodbye.text
    assert here.intake.rights.rights_of(bert.id, now()) == frozenset()
    assert not [one for one in carl.told() if isinstance(one, wire.Goodbye)]


def dismissal(client: Client) -> presence.DetachClient:
    assert client.connection.client is not None
    return presence.DetachClient(client.connection.client)


def goodbyes(client: Client) -> list[str]:
    return [one.text for one in client.told() if isinstance(one, wire.Goodbye)]


def test_a_client_is_dismissed_by_its_own_operator_or_by_who_may_grant(
    here: Here,
) -> None:
    anna, bert, bot = here.join(), here.join("bert"), here.join("bot", ActorKind.AGENT)

    here.ask(bot, dismissal(bot))
    here.ask(anna, dismissal(bert))

    assert goodbyes(bert) == [f"detached by {login_name()}"]
    assert bot.connection.is_closed
    assert here.intake.rights.rights_of(bert.id, now()) != frozenset()


def test_an_agent_dismisses_nobody_else(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    said = here.ask(bot, dismissal(anna))

    assert refusals(said) == [("not-allowed", FrameKind.DETACH_CLIENT)]
    assert not anna.connection.is_closed


def test_who_has_left_already_is_dismissed_in_peace(here: Here) -> None:
    anna = here.join()

    assert here.ask(anna, presence.DetachClient(client_id(bytes(10)))) == []


# ── intents ───────────────────────────────────────────────────────────────────

MEANT = Intend(
    act="run",
    intent="to see",
    effect="a list",
    parameters="ls",
    prompt="m-1",
    expects="",
    idempotent=False,
    attempt=1,
)


def test_an_intent_is_on_record(here: Here) -> None:
    bot = here.join("bot", ActorKind.AGENT)

    assert here.ask(bot, MEANT) == []

    (said,) = here.fields(EntryKind.INTENDED)
    assert said["actor"] == bot.id
    assert (said["act"], said["intent"], said["effect"]) == ("run", "to see", "a list")


def test_who_may_only_type_or_only_run_has_intents_and_who_only_looks_has_none(
    here: Here,
) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    for rights, codes in (
        (("input",), []),
        (("command",), []),
        (("observe",), ["not-allowed"]),
    ):
        here.ask(anna, presence.Grant(bot.id, rights, 0))
        bot.told()
        said = here.ask(bot, MEANT)
        assert [code for code, _ in refusals(said)] == codes


def test_one_operator_s_intents_are_bounded_and_another_s_are_not_by_them(
    here: Here,
) -> None:
    bot, other = here.join("bot", ActorKind.AGENT), here.join("other", ActorKind.AGENT)

    said = [message for _ in range(3 * BURST) for message in here.ask(bot, MEANT)]

    refused = [one for one in said if isinstance(one, wire.Refuse)]
    assert {one.code for one in refused} == {"asked-too-often"}
    assert BURST <= len(here.fields(EntryKind.INTENDED)) < 3 * BURST
    assert here.ask(other, MEANT) == []


# ── questions ─────────────────────────────────────────────────────────────────


def test_who_asks_learns_who_is_here_and_how_things_stand(here: Here) -> None:
    apply_policy(ASK)
    anna, bert = here.join(), here.join("bert")
    bot = here.join("bot", ActorKind.AGENT)
    here.ask(bot, wire.Take())
    bot.submit(b"x")
    here.ask(bert, wire.Ask(60_000))
    anna.told()

    said = told_presence(here.ask(anna, presence.Who()))

    assert [one.actor for one in said.present] == [anna.id, bert.id, bot.id]
    assert (said.holder, said.epoch) == (bot.id, here.intake.turn.epoch)
    assert said.waiting == (bert.id,)
    assert not said.frozen
    assert [one.actor for one in said.pending] == [bot.id]
    assert said.rights == tuple(sorted(Right))
    here.ask(anna, wire.Freeze())
    assert told_presence(here.ask(anna, presence.Who())).frozen


def test_who_may_type_and_not_look_learns_whose_turn_it_is_and_of_nobody_else(
    here: Here,
) -> None:
    apply_policy(ASK)
    anna, bert = here.join(), here.join("bert")
    bot, other = here.join("bot", ActorKind.AGENT), here.join("other", ActorKind.AGENT)
    here.ask(bot, wire.Take())
    here.ask(bert, wire.Ask(60_000))
    for one, right in ((other, "input"), (bot, "input"), (bert, "approve")):
        here.ask(anna, presence.Grant(one.id, (right,), 0))
    bot.submit(b"x")
    for one in (bert, bot, other):
        one.told()

    stranger = told_presence(here.ask(other, presence.Who()))
    own = told_presence(here.ask(bot, presence.Who()))
    approver = told_presence(here.ask(bert, presence.Who()))

    assert (stranger.present, stranger.waiting, stranger.pending) == ((), (), ())
    assert (stranger.holder, stranger.rights) == (bot.id, ("input",))
    assert [one.actor for one in own.pending] == [bot.id]
    assert [one.actor for one in approver.pending] == [bot.id]
    here.ask(anna, wire.Freeze())
    other.told()
    assert told_presence(here.ask(other, presence.Who())).frozen


def test_who_may_do_nothing_learns_just_that(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    here.ask(anna, wire.Take())
    here.ask(anna, wire.Freeze())
    here.ask(anna, presence.Grant(bot.id, (), 0))
    bot.told()

    said = told_presence(here.ask(bot, presence.Who()))

    assert (said.present, said.waiting, said.pending, said.rights) == ((), (), (), ())
    assert (said.holder, said.frozen) == (NOBODY, False)


def test_what_would_happen_is_told_and_does_not_happen(here: Here) -> None:
    apply_policy(DENY)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    (mine,) = here.ask(anna, Try(anna.id, InputKind.KEYS, b"x", None))
    (its,) = here.ask(anna, Try(bot.id, InputKind.KEYS, b"x", None))
    (supposed,) = here.ask(anna, Try(bot.id, InputKind.KEYS, b"x", ALLOW.encode()))

    assert isinstance(mine, Tried)
    assert isinstance(its, Tried)
    assert isinstance(supposed, Tried)
    assert mine.verdict is supposed.verdict is Verdict.ALLOW
    assert its.verdict is Verdict.DENY
    assert its.policy == mine.policy != supposed.policy
    assert here.world.typed() == b""


def test_another_policy_is_tried_only_by_who_may_grant(here: Here) -> None:
    here.join()
    bot = here.join("bot", ActorKind.AGENT)

    said = here.ask(bot, Try(bot.id, InputKind.KEYS, b"x", ALLOW.encode()))
    assert [code for code, _ in refusals(said)] == ["not-allowed"]
    (tried,) = here.ask(bot, Try(bot.id, InputKind.KEYS, b"x", None))
    assert isinstance(tried, Tried)


def test_who_inquires_learns_what_became_of_an_input(here: Here) -> None:
    anna = here.join()
    anna.submit(b"x")
    here.session.settle()
    anna.told()
    assert anna.connection.client is not None

    (said,) = here.ask(anna, wire.Inquire(anna.connection.client, 1))

    assert isinstance(said, wire.Acknowledge)
    assert said.sequence == 1


def test_what_is_none_of_these_requests_is_left_to_others(here: Here) -> None:
    anna = here.join()

    assert not here.requests.take(anna.connection, wire.Ping(1))


# ── changes that the keeper is asked for ──────────────────────────────────────


def test_a_change_is_of_this_session_and_by_somebody_proven(here: Here) -> None:
    anna = here.join()
    other: packets.Packet = {"id": "s_" + "b" * 16}
    unproven: packets.Packet = {"id": SESSION, "asker": anna.id}

    with pytest.raises(SessionNotFound):
        here.session.presence.demand_change(other)
    with pytest.raises(NotProven):
        here.session.presence.demand_change(unproven)


def test_a_change_is_for_who_may_end_the_session_and_has_never_been_here(
    here: Here,
) -> None:
    current_operator.enrol("bert", ActorKind.HUMAN)
    current_operator.enrol("bot", ActorKind.AGENT)

    here.session.presence.demand_change(_asked_by("bert"))
    with pytest.raises(NotAllowed):
        here.session.presence.demand_change(_asked_by("bot"))


def _asked_by(name: str) -> packets.Packet:
    known = operators.by_name(name)
    assert known is not None
    return packet_of(change_proven(Rename(SESSION), known.actor.id, known.token()))
