"""The one way in: what is typed, held, refused and passed on, by a real handler."""

import math
import os
import signal
import tty
from collections.abc import Iterator

import pytest
from tests.holder.input_world import World, successor, world
from tests.scenarios.support import apply_policy, eventually

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate, turn
from holdfast.holder.input.writer import AGAIN
from holdfast.holder.moment import now
from holdfast.model.actors import ActorKind
from holdfast.model.geometry import Size
from holdfast.model.ids import ActorId
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message

ASK = '[default]\nagent = "ask"\n'
NOBODY = ActorId("")


@pytest.fixture
def here(own_folders: None) -> Iterator[World]:
    del own_folders
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

    here.session.settle()

    assert before == []
    assert not here.session.book.is_behind
    assert acknowledged(anna.told()) == [1]
    assert here.typed() == b"x"
    assert kinds(here)[-2:] == [EntryKind.INPUT, EntryKind.SETTLED]


def test_what_is_typed_waits_for_its_echo_before_it_is_booked(here: World) -> None:
    anna = here.join()
    anna.told()
    anna.submit(b"x")

    assert kinds(here)[-1] is EntryKind.INPUT
    assert here.context.timers.first < math.inf
    assert here.context.timers.when_idle is None
    here.session.writer.echoed()
    assert here.session.book.is_behind
    assert acknowledged(anna.told()) == []
    here.context.timers.idle()
    assert acknowledged(anna.told()) == [1]


def test_another_size_is_set_told_and_in_the_facts(here: World) -> None:
    here.join().submit(b"100x30", InputKind.RESIZE)

    assert here.sizes == [Size(100, 30)]
    assert here.descriptors.record.size == (100, 30)
    assert os.get_terminal_size(here.slave) == (100, 30)


def test_a_signal_reaches_what_runs(here: World) -> None:
    here.join().submit(b"15", InputKind.SIGNAL)

    assert here.leader.wait(10) == -signal.SIGTERM


def test_what_the_terminal_has_no_room_for_is_half_written_and_goes_on(
    here: World,
) -> None:
    anna = here.join()
    anna.submit(b"x" * 60_000)

    assert here.session.input_handler.is_busy
    taken = 0
    while here.session.input_handler.is_busy:
        taken += len(here.typed())
        here.turn()
    here.session.settle()
    while more := here.typed():
        taken += len(more)
    assert taken == 60_000
    assert acknowledged(anna.told()) == [1]


def test_the_same_input_is_written_once(here: World) -> None:
    anna = here.join()
    for _ in range(2):
        anna._sequence = 0  # noqa: SLF001  # as one that heard no answer
        anna.submit(b"x")
        here.session.settle()

    assert here.typed() == b"x"
    assert acknowledged(anna.told()) == [1, 1]


def test_whoever_asks_is_told_what_became_of_an_input(here: World) -> None:
    anna = here.join()
    anna.submit(b"x")
    here.session.settle()
    anna.told()

    client = anna.connection.client
    assert client is not None
    here.requests.take(anna.connection, wire.Inquire(client, 1))

    assert acknowledged(anna.told()) == [1]


# ── what is turned away ───────────────────────────────────────────────────────


def test_whoever_only_looks_cannot_type_and_that_is_on_record(here: World) -> None:
    anna = here.join()
    anna.connection.mode = wire.Mode.OBSERVE
    anna.submit(b"x")
    here.session.settle()

    assert codes(anna.told()) == ["not-allowed"]
    assert here.typed() == b""
    (said,) = fields(here, EntryKind.DECLINED)
    refused = said["actor"], said["request"], said["code"]
    assert refused == (anna.id, "submit", "not-allowed")


def test_a_session_is_begun_by_nobody_who_is_attached(here: World) -> None:
    anna = here.join()
    anna.submit(b"{}", InputKind.START)

    assert codes(anna.told()) == ["not-allowed"]


def test_whoever_does_not_have_the_turn_is_refused(here: World) -> None:
    anna, bert = here.join(), here.join("bert")
    assert here.requests.pass_turn(turn.Took(anna.id))
    bert.submit(b"x")
    here.session.settle()

    assert codes(bert.told()) == ["not-your-turn"]
    assert here.typed() == b""
    assert not here.requests.pass_turn(turn.Took(bert.id))
    assert codes(bert.told()) == ["not-your-turn"]
    assert here.holder == anna.id


def test_a_turn_is_asked_for_given_and_seized_and_everybody_hears_of_it(
    here: World,
) -> None:
    anna, bert = here.join(), here.join("bert")
    here.requests.pass_turn(turn.Took(anna.id))
    anna.told()
    here.requests.pass_turn(turn.AskedFor(bert.id, 30.0))

    (asked,) = [one for one in anna.told() if isinstance(one, wire.TurnAsked)]
    assert asked.asker == bert.id
    assert here.intake.turn.waiting == (bert.id,)
    bert.told()
    here.requests.pass_turn(turn.Answered(anna.id, bert.id, granted=True))
    for one in (anna, bert):
        (passed,) = [said for said in one.told() if isinstance(said, wire.TurnPassed)]
        assert (passed.former, passed.holder, passed.reason) == (
            anna.id,
            bert.id,
            "answered",
        )
        assert passed.epoch == here.intake.turn.epoch
    before = here.intake.turn.epoch
    here.requests.pass_turn(turn.Seized(anna.id))
    assert (here.holder, here.intake.turn.epoch) == (anna.id, before + 1)
    here.requests.pass_turn(turn.Dropped(anna.id))
    assert here.holder == NOBODY


def test_a_seize_cuts_what_is_half_written_and_says_who_has_the_turn(
    here: World,
) -> None:
    anna, bert = here.join(), here.join("bert")
    anna.submit(b"x" * 60_000)
    anna.submit(b"y")
    anna.told()
    here.requests.pass_turn(turn.Seized(bert.id))
    here.session.settle()

    said = anna.told()
    (cut,) = [one for one in said if isinstance(one, wire.Report)]
    (refused,) = [one for one in said if isinstance(one, wire.Refuse)]
    assert (cut.sequence, cut.outcome) == (1, wire.Ending.CUT)
    assert 0 < cut.written < 60_000
    assert (refused.code, refused.sequence) == ("turn-moved", 2)
    assert bert.id in refused.facts.values()
    here.turn(AGAIN)
    assert not here.session.input_handler.is_busy
    assert b"y" not in here.typed()


def test_what_is_frozen_takes_nothing_until_it_is_thawed(here: World) -> None:
    anna = here.join()
    here.do(here.intake.freeze(anna.id, now()))
    anna.submit(b"x")
    here.session.settle()
    assert here.intake.is_frozen
    assert codes(anna.told()) == ["frozen"]
    assert here.typed() == b""

    here.do(here.intake.thaw(anna.id, now()))
    anna.submit(b"y")
    here.session.settle()

    assert not here.intake.is_frozen
    assert acknowledged(anna.told()) == [2]
    assert here.typed() == b"y"


def test_whoever_is_revoked_has_no_turn_and_types_nothing(here: World) -> None:
    anna, bert = here.join(), here.join("bert")
    here.requests.pass_turn(turn.Took(bert.id))
    here.do(here.intake.revoke(bert.id, anna.id, now()))
    bert.told()
    bert.submit(b"x")
    here.session.settle()

    assert here.holder == NOBODY
    assert codes(bert.told()) != []
    assert here.typed() == b""
    (revoked,) = fields(here, EntryKind.REVOKED)
    assert (revoked["actor"], revoked["by"]) == (bert.id, anna.id)


def test_when_the_program_has_ended_everything_is_refused(here: World) -> None:
    anna = here.join()
    here.session.exited("0")
    here.session.settle()
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
    here.approvals.approve(approval(shown, anna.id))
    here.session.settle()

    assert here.typed() == b"rm x\r"
    said = bot.told()
    assert acknowledged(said) == [1]
    (settled,) = [one for one in said if isinstance(one, wire.Settled)]
    assert (settled.ticket, settled.verdict) == (shown.ticket, Verdict.ALLOW)
    assert here.session.notifications.pending == ()


def test_an_approval_of_other_bytes_is_none(here: World) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    anna.told()
    bot.submit(b"x")
    shown = pending(anna.told())
    here.approvals.approve(gate.Approved(shown.ticket, anna.id, bytes(32), shown.epoch))
    here.approvals.approve(approval(shown, bot.id))
    here.session.settle()

    assert here.typed() == b""
    assert here.session.notifications.pending == (shown,)


def test_what_is_denied_is_not_typed_and_whoever_asked_is_told(here: World) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    anna.told()
    bot.submit(b"x")
    shown = pending(anna.told())
    bot.told()
    here.approvals.deny(gate.Denied(shown.ticket, anna.id), shown.digest)
    here.session.settle()

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
    here.session.presence.brief(anna.connection)
    shown = pending(anna.told())
    here.leave(bot)

    def is_given_up() -> bool:
        here.turn()
        return here.session.notifications.pending == ()

    eventually("nobody waits for it", is_given_up)
    assert shown.actor == bot.id
    assert here.typed() == b""


# ── who comes after ───────────────────────────────────────────────────────────


def test_a_successor_knows_who_has_the_turn_and_that_all_stands(here: World) -> None:
    anna = here.join()
    here.requests.pass_turn(turn.Took(anna.id))
    here.do(here.intake.freeze(anna.id, now()))
    here.session.settle()

    heir = successor(here)

    epoch = here.intake.turn.epoch
    assert (heir.holder, heir.intake.turn.epoch) == (anna.id, epoch)
    assert heir.intake.is_frozen
    given = here.intake.rights.envelope_of(anna.id)
    assert heir.intake.rights.envelope_of(anna.id) == given


def test_a_successor_of_what_is_over_writes_no_second_end(here: World) -> None:
    here.join()
    here.session.exited("3")
    here.session.settle()
    heir = successor(here)
    heir.session.exited("3")

    assert kinds(here).count(EntryKind.EXITED) == 1


def test_the_policy_looked_at_for_one_input_is_old_for_the_next(here: World) -> None:
    anna = here.join()
    anna.submit(b"x")
    assert not here.session.policy.in_force.is_fresh

    anna.submit(b"", InputKind.START)  # Refused before anybody is asked.

    assert not here.session.policy.in_force.is_fresh
