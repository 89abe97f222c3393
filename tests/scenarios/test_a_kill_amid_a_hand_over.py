"""The holder is killed while authority moves: its successor stands where it stood.

Either the act has happened or it has not; what somebody was told has happened.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.killing import kill_amid, moments
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.core.book.logbook import EntryKind, recover, verify
from holdfast.linux import freezer
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties
from holdfast.wire.codec import Message

Standing = tuple[str, int, bool, tuple[str, ...]]
"""Who has the turn, under which epoch, whether it is frozen, what the bot may do."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def granted_to(bot: Client) -> tuple[str, ...]:
    """Return what the book says that the bot may do."""
    found: tuple[str, ...] = ()
    raw = places.session_log(bot.session).read_bytes()
    for entry in recover(raw, bot.session).entries:
        if entry.fields.get("actor") == bot.operator.actor.id:
            if entry.kind is EntryKind.GRANTED:
                found = tuple(str(entry.fields["rights"]).split(","))
            if entry.kind is EntryKind.REVOKED:
                found = ()
    return found


def standing(anna: Client, bot: Client) -> Standing:
    who = anna.who()
    return who.holder, who.epoch, who.frozen, granted_to(bot)


def after(act: str, before: Standing, anna: Client, bot: Client) -> Standing:
    """Return how things stand once `act` has been done."""
    holder, epoch, frozen, rights = before
    match act:
        case "seize":
            return anna.operator.actor.id, epoch + 1, frozen, rights
        case "give":
            return bot.operator.actor.id, epoch + 1, frozen, rights
        case "freeze":
            return holder, epoch, True, rights
        case "grant":
            return holder, epoch, frozen, ("observe", "take")
        case _:
            return "", epoch + 1, frozen, ()


def message(act: str, bot: Client) -> Message:
    actor = bot.operator.actor.id
    acts: dict[str, Message] = {
        "seize": wire.Seize(wire.Halt.NONE),
        "give": wire.Give(actor),
        "freeze": wire.Freeze(),
        "grant": parties.Grant(actor, ("observe", "take"), 0),
        "revoke": parties.Revoke(actor),
    }
    return acts[act]


def was_told(client: Client) -> bool:
    """Read to the end of a link that was cut: did the answer come?"""
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            client.wait(parties.Presence)
            return True
    return False


def ask(client: Client, act: Message) -> None:
    """Ask for something, and for an answer that comes after it."""
    with contextlib.suppress(OSError):
        client.send(act)
        client.send(parties.Who())


@pytest.mark.parametrize("act", ["seize", "give", "freeze", "grant", "revoke"])
def test_c122_a_successor_has_the_same_turn_epoch_rights_and_freeze(
    here: Machine, act: str
) -> None:
    for number, moment in enumerate(moments("holder")):
        session = here.new("sh", "-c", "stty raw -echo; exec cat")
        bot = here.join(session, f"bot-{number}", ActorKind.AGENT)
        anna = here.join(session)
        first = anna if act == "give" else bot
        first.request(wire.Take())
        before = standing(anna, bot)
        wanted = after(act, before, anna, bot)

        here.wait_whole(session)
        dead = here.pid("holder", session)
        kill_amid(dead, moment, ask, anna, message(act, bot))
        told = was_told(anna)
        eventually("a successor", lambda: here.pid("holder", session) != dead)  # noqa: B023  # called at once
        anna.attach()

        found = standing(anna, bot)
        # A revoke takes the rights first; a turn without rights writes nothing.
        half = (*before[:3], ()) if act == "revoke" else before
        assert found in (before, wanted, half), (act, moment)
        assert found == wanted or not told, (act, moment)
        verify(places.session_log(session).read_bytes().splitlines(), session)
        here.kill("leader", session)


def stands_still(client: Client, count: Path) -> bool:
    """Tell whether nothing is counted while the holder answers twenty times."""
    before = count.stat().st_size
    for _ in range(20):
        client.who()
    return count.stat().st_size == before


def test_what_was_to_stand_still_stands_still_under_the_next_holder(
    here: Machine, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    session = here.new("sh", "-c", f"while :; do echo x >>{count}; done")
    anna = here.join(session)
    eventually("it runs", count.exists)
    anna.request(wire.Freeze())
    assert stands_still(anna, count)
    # As if the holder had died after it said "frozen", and before it was so.
    record = json.loads(places.session_frozen(session).read_bytes())
    freezer.thaw(freezer.Frozen.from_facts(record))
    eventually("it runs", lambda: not stands_still(anna, count))

    here.replace_holder(session)

    anna.attach()
    assert anna.who().frozen
    assert stands_still(anna, count)
    assert anna.request(wire.Thaw()) is None
    eventually("it goes on", lambda: not stands_still(anna, count))


@pytest.mark.parametrize("is_seized", [False, True])
def test_a4_who_seized_may_write_under_the_next_holder_and_the_other_may_not(
    here: Machine, *, is_seized: bool
) -> None:
    session = here.new("sh", "-c", "stty raw -echo; echo ready; exec cat")
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    bot.request(wire.Take())
    if is_seized:
        anna.request(wire.Seize(wire.Halt.NONE))
    here.replace_holder(session)
    anna.attach()
    bot.attach()
    writes, refused = (anna, bot) if is_seized else (bot, anna)

    assert isinstance(writes.enter(b"mine"), wire.Acknowledge)
    assert code(refused.enter(b"not mine")) == "not-your-turn"

    assert anna.wait_output(b"mine").count(b"not") == 0


def code(answer: object) -> str:
    assert isinstance(answer, wire.Refuse)
    return answer.code
