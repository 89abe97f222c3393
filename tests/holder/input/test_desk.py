"""The one way in: what is typed, held, refused and passed on, by a real desk."""

import math
import os
import signal
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.desk_world import World, successor, world
from tests.scenarios.support import apply_policy, eventually

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.model.actors import ActorKind
from holdfast.model.geometry import Size
from holdfast.model.ids import ActorId
from holdfast.model.inputs import InputId, InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message

ASK = '[default]\nagent = "ask"\n'
NOBODY = ActorId("")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with world() as made:
        tty.setraw(made.slave)
        yield made


def kinds(here: World) -> list[EntryKind]:
    return [entry.kind for entry in here.entries()]


def fields(here: World, kind: EntryKind) -> list[dict[str, object]]:
    return [dict(entry.fields) for entry in here.entries() if entry.kind is kind]


def codes(said: list[Message]) -> list[str]:
    return [one.code for one in said if isinstance(one, wire.Refuse)]


def acknowledged(said: list[Message]) -> list[int]:
    return [one.sequence for one in said if isinstance(one, wire.Acknowledge)]


def pending(said: list[Message]) -> wire.Pending:
    (found,) = [one for one in said if isinstance(one, wire.Pending)]
    return found


def approval(one: wire.Pending, by: ActorId) -> gate.Approved:
    return gate.Approved(one.ticket, by, one.digest, one.epoch)


# ── what is typed ─────────────────────────────────────────────────────────────


def test_after_settling_nothing_waits_for_the_disk(here: World) -> None:
    anna = here.join()
    anna.told()
    anna.submit(b"x")
    before = acknowledged(anna.told())

    here.desk.settle()

    assert before == []
    assert not here.desk.must_sync(is_idle=True)
    assert acknowledged(anna.told()) == [1]
    assert here.typed() == b"x"
    assert kinds(here)[-2:] == [EntryKind.INPUT, EntryKind.SETTLED]


def test_what_is_typed_waits_for_its_echo_before_it_is_booked(here: World) -> None:
    anna = here.join()
    anna.told()
    anna.submit(b"x")

    assert kinds(here)[-1] is EntryKind.INPUT
    assert here.desk.next_deadline() < math.inf
    here.desk.printed()
    here.desk.tick(time.monotonic())
    assert here.desk.next_deadline() == 0.0
    assert here.desk.must_sync(is_idle=True)
    assert acknowledged(anna.told()) == []
    here.desk.sync()
    assert acknowledged(anna.told()) == [1]


def test_another_size_is_set_told_and_in_the_facts(here: World) -> None:
    here.join().submit(b"100x30", InputKind.RESIZE)

    assert here.sizes == [Size(100, 30)]
    assert here.vaulted.record.size == (100, 30)
    assert os.get_terminal_size(here.slave) == (100, 30)


def test_a_signal_reaches_what_runs(here: World) -> None:
    here.join().submit(b"15", InputKind.SIGNAL)

    assert here.leader.wait(10) == -signal.SIGTERM


def test_what_the_terminal_has_no_room_for_is_half_written_and_goes_on(
    here: World,
) -> None:
    anna = here.join()
    anna.submit(b"x" * 60_000)

    assert here.desk.is_busy
    taken = 0
    while here.desk.is_busy:
        taken += len(here.typed())
        here.desk.tick(time.monotonic())
    here.desk.settle()
    while more := here.typed():
        taken += len(more)
    assert taken == 60_000
    assert acknowledged(anna.told()) == [1]


def test_the_same_input_is_written_once(here: World) -> None:
    anna = here.join()
    for _ in range(2):
        anna._sequence = 0  # noqa: SLF001  # as one that heard no answer
        anna.submit(b"x")
        here.desk.settle()

    assert here.typed() == b"x"
    assert acknowledged(anna.told()) == [1, 1]


def test_whoever_asks_is_told_what_became_of_an_input(here: World) -> None:
    anna = here.join()
    anna.submit(b"x")
    here.desk.settle()
    anna.told()

    client = anna.connection.client
    assert client is not None
    here.desk.inquire(anna.connection, anna.id, InputId(client, 1))

    assert acknowledged(anna.told()) == [1]


# ── what is turned away ───────────────────────────────────────────────────────


def test_whoever_only_looks_cannot_type_and_that_is_on_record(here: World) -> None:
    anna = here.join()
    anna.connection.mode = wire.Mode.OBSERVE
    anna.submit(b"x")
    here.desk.settle()

    assert codes(anna.told()) == ["not-allowed"]
    assert here.typed() == b""
    (said,) = fields(here, EntryKind.DECLINED)
    assert (said["actor"], said["request"], said["code"]) == (
        anna.id,
        "submit",
        "not-allowed",
    )


def test_a_session_is_begun_by_nobody_who_is_attached(here: World) -> None:
    anna = here.join()
    anna.submit(b"{}", InputKind.START)

    assert codes(anna.told()) == ["not-allowed"]


def test_whoever_does_not_have_the_turn_is_refused(here: World) -> None:
    anna, bert = here.join(), here.join("bert")
    assert here.desk.request(turn.Took(anna.id))
    bert.submit(b"x")
    here.desk.settle()

    assert codes(bert.told()) == ["not-your-turn"]
    assert here.typed() == b""
    assert not here.desk.request(turn.Took(bert.id))
    assert codes(bert.told()) == ["not-your-turn"]
    assert here.desk.holder == anna.id


def test_a_turn_is_asked_for_given_and_seized_and_everybody_hears_of_it(
    here: World,
) -> None:
    anna, bert = here.join(), here.join("bert")
    here.desk.request(turn.Took(anna.id))
    anna.told()
    here.desk.request(turn.AskedFor(bert.id, 30.0))

    (asked,) = [one for one in anna.told() if isinstance(one, wire.TurnAsked)]
    assert asked.asker == bert.id
    assert here.desk.waiting == (bert.id,)
    bert.told()
    here.desk.request(turn.Answered(anna.id, bert.id, granted=True))
    for one in (anna, bert):
        (passed,) = [said for said in one.told() if isinstance(said, wire.TurnPassed)]
        assert (passed.former, passed.holder, passed.reason) == (
            anna.id,
            bert.id,
            "answered",
        )
        assert passed.epoch == here.desk.epoch
    before = here.desk.epoch
    here.desk.request(turn.Seized(anna.id))
    assert (here.desk.holder, here.desk.epoch) == (anna.id, before + 1)
    here.desk.request(turn.Dropped(anna.id))
    assert here.desk.holder == NOBODY


def test_a_seize_cuts_what_is_half_written_and_says_who_has_the_turn(
    here: World,
) -> None:
    anna, bert = here.join(), here.join("bert")
    anna.submit(b"x" * 60_000)
    anna.submit(b"y")
    anna.told()
    here.desk.request(turn.Seized(bert.id))
    here.desk.settle()

    said = anna.told()
    (cut,) = [one for one in said if isinstance(one, wire.Report)]
    (refused,) = [one for one in said if isinstance(one, wire.Refuse)]
    assert (cut.sequence, cut.outcome) == (1, wire.Ending.CUT)
    assert 0 < cut.written < 60_000
    assert (refused.code, refused.sequence) == ("turn-moved", 2)
    assert bert.id in refused.facts.values()
    here.desk.tick(time.monotonic())
    assert not here.desk.is_busy
    assert b"y" not in here.typed()


def test_what_is_frozen_takes_nothing_until_it_is_thawed(here: World) -> None:
    anna = here.join()
    here.desk.freeze(anna.id)
    anna.submit(b"x")
    here.desk.settle()
    assert here.desk.is_frozen
    assert codes(anna.told()) == ["frozen"]
    assert here.typed() == b""

    here.desk.thaw(anna.id)
    anna.submit(b"y")
    here.desk.settle()

    assert not here.desk.is_frozen
    assert acknowledged(anna.told()) == [2]
    assert here.typed() == b"y"


def test_whoever_is_revoked_has_no_turn_and_types_nothing(here: World) -> None:
    anna, bert = here.join(), here.join("bert")
    here.desk.request(turn.Took(bert.id))
    here.desk.revoke(bert.id, anna.id)
    bert.told()
    bert.submit(b"x")
    here.desk.settle()

    assert here.desk.holder == NOBODY
    assert codes(bert.told()) != []
    assert here.typed() == b""
    (revoked,) = fields(here, EntryKind.REVOKED)
    assert (revoked["actor"], revoked["by"]) == (bert.id, anna.id)


def test_when_the_program_has_ended_everything_is_refused(here: World) -> None:
    anna = here.join()
    here.desk.exited("0")
    here.desk.settle()
    anna.told()
    anna.submit(b"x")

    assert codes(anna.told()) == ["session-over"]
    assert kinds(here).count(EntryKind.EXITED) == 1


# ── what waits for approval ───────────────────────────────────────────────────


def test_what_is_asked_about_is_shown_to_who_may_approve_and_typed_once_it_is(
    here: World,
) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    other = here.join("other", ActorKind.AGENT)
    for one in (anna, bot, other):
        one.told()
    bot.submit(b"rm x\r")
    shown = pending(anna.told())

    assert (shown.actor, shown.excerpt, shown.size) == (bot.id, b"rm x\r", 5)
    assert pending(bot.told()).ticket == shown.ticket
    assert not [one for one in other.told() if isinstance(one, wire.Pending)]
    assert here.typed() == b""
    here.desk.approve(approval(shown, anna.id))
    here.desk.settle()

    assert here.typed() == b"rm x\r"
    said = bot.told()
    assert acknowledged(said) == [1]
    (settled,) = [one for one in said if isinstance(one, wire.Settled)]
    assert (settled.ticket, settled.verdict) == (shown.ticket, Verdict.ALLOW)
    assert here.desk.telling.pending == ()


def test_an_approval_of_other_bytes_is_none(here: World) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    anna.told()
    bot.submit(b"x")
    shown = pending(anna.told())
    here.desk.approve(gate.Approved(shown.ticket, anna.id, b"y" * 32, shown.epoch))
    here.desk.approve(approval(shown, bot.id))
    here.desk.settle()

    assert here.typed() == b""
    assert here.desk.telling.pending == (shown,)


def test_what_is_denied_is_not_typed_and_whoever_asked_is_told(here: World) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    anna.told()
    bot.submit(b"x")
    shown = pending(anna.told())
    bot.told()
    here.desk.deny(gate.Denied(shown.ticket, anna.id))
    here.desk.settle()

    said = bot.told()
    assert codes(said) == ["denied-by-operator"]
    (settled,) = [one for one in said if isinstance(one, wire.Settled)]
    assert settled.verdict is Verdict.DENY
    assert here.typed() == b""


def test_who_comes_later_is_shown_what_waits_and_who_leaves_is_not_waited_for(
    here: World,
) -> None:
    apply_policy(ASK + "[turn]\ngrace = 1\n")
    bot = here.join("bot", ActorKind.AGENT)
    bot.submit(b"x")
    anna = here.join()
    anna.told()
    here.desk.brief(anna.connection)
    shown = pending(anna.told())
    here.leave(bot)

    def is_given_up() -> bool:
        here.desk.tick(time.monotonic())
        return here.desk.telling.pending == ()

    eventually("nobody waits for it", is_given_up)
    assert shown.actor == bot.id
    assert here.typed() == b""


# ── who comes after ───────────────────────────────────────────────────────────


def test_a_successor_knows_who_has_the_turn_and_that_all_stands(here: World) -> None:
    anna = here.join()
    here.desk.request(turn.Took(anna.id))
    here.desk.freeze(anna.id)
    here.desk.settle()

    heir = successor(here)

    assert (heir.holder, heir.epoch) == (anna.id, here.desk.epoch)
    assert heir.is_frozen
    assert heir.rights.envelope_of(anna.id) == here.desk.rights.envelope_of(anna.id)


def test_a_successor_of_what_is_over_writes_no_second_end(here: World) -> None:
    here.join()
    here.desk.exited("3")
    here.desk.settle()
    heir = successor(here)
    heir.exited("3")

    assert kinds(here).count(EntryKind.EXITED) == 1


def test_the_policy_looked_at_for_one_input_is_old_for_the_next(here: World) -> None:
    anna = here.join()
    anna.submit(b"x")
    assert not here.desk.policing.is_fresh

    anna.submit(b"", InputKind.START)  # Refused before anybody is asked.

    assert not here.desk.policing.is_fresh
