"""What operators ask for besides typing: who gets what, and what the rest hear."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.requests_world import Here, refusals, requested
from tests.linux.trees import stands
from tests.scenarios.support import apply_policy

from holdfast.core.book.logbook import EntryKind
from holdfast.linux import spawn
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message
from holdfast.wire.frames import FrameKind

ASK = '[default]\nagent = "ask"\n'
NOBODY = ActorId("")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    with requested(tmp_path, monkeypatch) as made:
        yield made


def states(said: list[Message]) -> list[str]:
    return [one.state for one in said if isinstance(one, wire.State)]


def pending(said: list[Message]) -> wire.Pending:
    (found,) = [one for one in said if isinstance(one, wire.Pending)]
    return found


# ── the turn ──────────────────────────────────────────────────────────────────


def test_the_turn_is_taken_asked_for_given_and_dropped(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    here.ask(anna, wire.Take())
    assert here.world.holder == anna.id

    here.ask(bert, wire.Ask(90_000))
    (asked,) = [one for one in anna.told() if isinstance(one, wire.TurnAsked)]
    assert asked.asker == bert.id
    assert 80_000 < asked.wait_ms <= 90_000
    here.ask(anna, wire.Answer(bert.id, granted=False))
    assert (here.world.holder, here.intake.turn.waiting) == (anna.id, ())

    here.ask(anna, wire.Give(bert.id))
    assert here.world.holder == bert.id
    here.ask(bert, wire.Drop())
    assert here.world.holder == NOBODY


def test_a_turn_is_given_only_to_somebody_who_is_here(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    here.ask(anna, wire.Take())
    here.world.leave(bert)

    said = here.ask(anna, wire.Give(bert.id))

    assert refusals(said) == [("operator-not-here", FrameKind.GIVE)]
    assert here.world.holder == anna.id


def test_a_refused_request_is_answered_to_its_asker_and_on_record(here: Here) -> None:
    anna, bert = here.join(), here.join("bert")
    here.ask(anna, wire.Take())

    said = here.ask(bert, wire.Take())
    here.session.settle()

    assert refusals(said) == [("not-your-turn", FrameKind.TAKE)]
    assert refusals(anna.told()) == []
    (declined,) = here.fields(EntryKind.DECLINED)
    assert (declined["actor"], declined["request"]) == (bert.id, "take")


def test_a_seize_that_is_refused_stops_nothing(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    here.ask(anna, wire.Take())

    said = here.ask(bot, wire.Seize(wire.Halt.FREEZE))

    assert refusals(said) == [("not-allowed", FrameKind.SEIZE)]
    assert here.world.holder == anna.id
    assert not here.intake.is_frozen
    assert not stands(here.world.leader.pid)


def test_a_seize_alone_leaves_running_what_runs(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    here.ask(bot, wire.Take())

    here.ask(anna, wire.Seize(wire.Halt.NONE))

    assert here.world.holder == anna.id
    assert not here.intake.is_frozen
    assert not stands(here.world.leader.pid)
    assert here.fields(EntryKind.INTERRUPTED) == []


def test_a_seize_can_make_everything_stand_still(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    here.ask(bot, wire.Take())
    bot.told()

    said = here.ask(anna, wire.Seize(wire.Halt.FREEZE))

    assert here.world.holder == anna.id
    assert here.intake.is_frozen
    assert stands(here.world.leader.pid)
    assert states(said) == states(bot.told()) == ["frozen"]


def test_a_seize_can_interrupt_what_has_the_terminal(here: Here) -> None:
    anna = here.join()
    path = {"PATH": os.environ["PATH"]}
    program = spawn.Leader(("sleep", "600"), "/", path)
    pid = spawn.start_leader(program, here.world.slave)

    here.ask(anna, wire.Seize(wire.Halt.INTERRUPT))
    _, status = os.waitpid(pid, 0)

    assert os.WTERMSIG(status) == signal.SIGINT
    (said,) = here.fields(EntryKind.INTERRUPTED)
    assert (said["by"], said["group"]) == (anna.id, pid)


def test_a_seize_interrupts_nothing_where_nobody_has_the_terminal(here: Here) -> None:
    anna = here.join()

    said = here.ask(anna, wire.Seize(wire.Halt.INTERRUPT))

    assert refusals(said) == []
    assert here.world.holder == anna.id
    assert here.fields(EntryKind.INTERRUPTED) == []


# ── standing still ────────────────────────────────────────────────────────────


def test_everybody_hears_of_a_freeze_and_of_a_thaw(here: Here) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)

    assert states(here.ask(anna, wire.Freeze())) == ["frozen"]
    assert states(bot.told()) == ["frozen"]
    assert stands(here.world.leader.pid)
    assert here.intake.is_frozen
    assert states(here.ask(anna, wire.Thaw())) == ["running"]
    assert states(bot.told()) == ["running"]
    assert not stands(here.world.leader.pid)
    assert not here.intake.is_frozen


@pytest.mark.parametrize("message", [wire.Freeze(), wire.Thaw()])
def test_only_who_may_seize_may_freeze_or_thaw(here: Here, message: Message) -> None:
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    if isinstance(message, wire.Thaw):
        here.ask(anna, wire.Freeze())
        bot.told()
    before = here.intake.is_frozen

    said = here.ask(bot, message)

    assert [code for code, _ in refusals(said)] == ["not-allowed"]
    assert here.intake.is_frozen is before
    assert stands(here.world.leader.pid) is before


# ── ending ────────────────────────────────────────────────────────────────────


def test_an_end_is_on_record_with_its_signal(here: Here) -> None:
    anna = here.join()

    assert here.requests.end(anna.connection, signal.SIGHUP)

    (said,) = here.fields(EntryKind.ENDING)
    assert (said["by"], said["signal"]) == (anna.id, signal.SIGHUP)
    assert anna.told() == []


def test_only_who_may_end_a_session_ends_it(here: Here) -> None:
    here.join()
    bot = here.join("bot", ActorKind.AGENT)

    assert not here.requests.end(bot.connection, signal.SIGHUP)
    here.session.settle()

    assert refusals(bot.told()) == [("not-allowed", FrameKind.END)]
    assert here.fields(EntryKind.ENDING) == []
    (declined,) = here.fields(EntryKind.DECLINED)
    assert (declined["actor"], declined["request"]) == (bot.id, "end")


def test_what_stands_still_is_thawed_before_it_is_ended(here: Here) -> None:
    anna = here.join()
    here.ask(anna, wire.Freeze())

    assert here.requests.end(anna.connection, signal.SIGTERM)

    assert not here.intake.is_frozen
    assert not stands(here.world.leader.pid)


# ── approvals ─────────────────────────────────────────────────────────────────


def test_an_approval_is_carried_to_what_waits(here: Here) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    bot.submit(b"x")
    shown = pending(anna.told())

    here.ask(anna, wire.Approve(shown.ticket, shown.epoch, shown.digest))
    here.session.settle()

    assert here.world.typed() == b"x"
    (settled,) = [one for one in bot.told() if isinstance(one, wire.Settled)]
    assert settled == wire.Settled(shown.ticket, Verdict.ALLOW, anna.id)


def test_a_denial_of_other_bytes_is_refused_and_of_these_is_carried_out(
    here: Here,
) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    bot.submit(b"x")
    shown = pending(anna.told())

    said = here.ask(anna, wire.Deny(shown.ticket, b"y" * 32))
    assert refusals(said) == [("approval-mismatch", FrameKind.DENY)]
    assert [*here.session.notifications.pending] == [shown]

    here.ask(anna, wire.Deny(shown.ticket, shown.digest))
    assert [*here.session.notifications.pending] == []
    (settled,) = [one for one in bot.told() if isinstance(one, wire.Settled)]
    assert settled == wire.Settled(shown.ticket, Verdict.DENY, anna.id)


def test_who_may_not_approve_cannot_deny_either(here: Here) -> None:
    apply_policy(ASK)
    anna, bot = here.join(), here.join("bot", ActorKind.AGENT)
    other = here.join("other", ActorKind.AGENT)
    bot.submit(b"x")
    shown = pending(anna.told())

    said = here.ask(other, wire.Deny(shown.ticket, shown.digest))

    assert [code for code, _ in refusals(said)] == ["not-allowed"]
    assert here.session.notifications.pending == (shown,)
