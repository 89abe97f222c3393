"""A holder's link to its keeper: what it deposits, and what it does without one."""

import math
import os
import time
from pathlib import Path

import pytest
from tests.holder.keeper_world import PATIENCE, TAKEN, Keeper
from tests.holder.links.keeper_link_world import SESSION, World
from tests.scenarios import leftovers
from tests.scenarios.support import eventually

from holdfast.holder.links.keeper_link import LEAVE_PATIENCE, RETRY, KeeperLink
from holdfast.linux import packets, process_start
from holdfast.linux.stored import folders, session_names
from holdfast.version import __version__

# ── what is deposited ─────────────────────────────────────────────────────────


def test_a_deposit_is_everything_the_session_needs(here: World, keeper: Keeper) -> None:
    link = here.link()
    brought = keeper.expect(TAKEN)

    assert link.begin("t1", None) is None

    packet = brought.result(PATIENCE)
    assert packet["do"] == "deposit"
    assert packet["id"] == SESSION
    assert packet["token"] == "t1"  # noqa: S105  # a name
    assert packet["exit"] is None
    assert [os.fstat(fd).st_ino for fd in keeper.fds] == [
        os.fstat(fd).st_ino for fd in here.descriptors.fds()
    ]
    facts = packet["facts"]
    assert isinstance(facts, dict)
    assert (facts["name"], facts["holder"]) == ("build", os.getpid())
    assert (facts["version"], facts["consents"]) == (__version__, True)
    assert session_names.name_of(SESSION) == "build"
    assert here.due == math.inf


@pytest.mark.parametrize(
    ("known", "answered", "learnt"),
    [(None, None, None), (None, 7, 7), (3, None, 3), (3, 7, 3), (None, "7", None)],
)
def test_a_keeper_may_know_how_the_leader_ended_meanwhile(
    here: World, keeper: Keeper, known: int | None, answered: object, learnt: object
) -> None:
    link = here.link()
    brought = keeper.expect({"ok": True, "exit": answered})

    assert link.begin("", known) == learnt
    assert brought.result(PATIENCE)["exit"] == known


def test_what_is_said_before_the_answer_is_obeyed(here: World, keeper: Keeper) -> None:
    link = here.link()
    keeper.expect({"do": "leave"}, TAKEN)

    link.begin("", None)

    assert link.leave_by is not None


def test_a_session_that_was_forgotten_meanwhile_is_wanted_no_more(
    here: World, keeper: Keeper
) -> None:
    link = here.link()
    keeper.expect({"ok": False, "code": "session-not-found"})

    link.begin("", None)

    assert not link.is_wanted
    assert session_names.name_of(SESSION) == ""
    assert here.due <= time.monotonic()


@pytest.mark.parametrize("answers", [({"ok": False, "code": "no-keeper"},), ()])
def test_a_keeper_that_does_not_take_it_is_asked_again(
    here: World, keeper: Keeper, answers: tuple[packets.Packet, ...]
) -> None:
    link = here.link()
    watched = here.poll.count
    keeper.expect(*answers)
    link.begin("", 5)

    assert link.is_wanted
    assert here.poll.count == watched
    assert here.due <= time.monotonic()
    brought = keeper.expect(TAKEN)
    here.turn()
    assert brought.result(PATIENCE)["exit"] == 5
    assert here.poll.count == watched + 1
    assert here.due == math.inf


# ── without a keeper ──────────────────────────────────────────────────────────


def test_without_a_keeper_one_is_looked_for_at_once(here: World) -> None:
    link = here.link()

    assert link.begin("", 4) == 4
    assert here.due <= time.monotonic()
    assert session_names.name_of(SESSION) == "build"


def test_while_resting_no_keeper_is_looked_for_until_one_knocks(here: World) -> None:
    here.descriptors.is_resting = True
    link = here.link()
    link.begin("", None)

    assert here.due == math.inf
    link.knocked()
    assert here.due <= time.monotonic()
    here.turn()  # It was somebody else who knocked.
    assert here.due == math.inf
    assert not Path(folders.runtime_path(), "keeper.log").exists()


def test_whoever_has_a_keeper_looks_for_none_when_somebody_knocks(
    here: World, joined: KeeperLink
) -> None:
    joined.knocked()

    assert here.due == math.inf


def test_nothing_is_done_before_it_is_time(here: World, keeper: Keeper) -> None:
    link = here.link()
    keeper.expect({"ok": False})
    link.begin("", None)
    brought = keeper.expect(TAKEN)
    link.tick(here.due - 1)

    assert not brought.done()
    here.turn()
    assert brought.result(PATIENCE)["do"] == "deposit"
    link.tick(math.inf)
    assert not keeper.has_more()


def test_a_keeper_is_started_by_whoever_has_the_claim(here: World) -> None:
    claim = process_start.claim_start()
    assert claim is not None
    link = here.link()
    link.begin("", None)
    log = Path(folders.runtime_path(), "keeper.log")
    try:
        begun = time.monotonic()
        here.turn()
        assert begun + RETRY / 2 <= here.due <= time.monotonic() + RETRY * 1.5
        assert not log.exists()
        os.close(claim)
        eventually("a keeper", lambda: _answers(here))
    finally:
        leftovers.end_everything(folders.runtime_path())
    assert log.exists()
    assert process_start.claim_start() is None

    keeper = Keeper()
    keeper.expect(TAKEN)
    here.turn(2)
    assert here.due == math.inf
    again = process_start.claim_start()
    assert again is not None
    os.close(again)
    keeper.close()
    here.hang_up()


def _answers(here: World) -> bool:
    here.turn(1)
    packets.connect(folders.keeper_address(), 1.0).close()
    return True


def test_a_keeper_that_leaves_is_looked_for_at_once(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    del joined
    watched = here.poll.count
    keeper.leave()
    here.hear()

    assert here.poll.count == watched - 1
    assert here.due <= time.monotonic()


def test_a_keeper_that_was_told_to_stop_is_not_looked_for(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    keeper.say(do="rest")
    here.hear()
    assert not joined.doze([], 0)
    keeper.leave()
    here.hear()

    assert here.due == math.inf
    joined.knocked()
    keeper.expect(TAKEN).add_done_callback(lambda _: keeper.leave())
    here.turn()
    here.hear()
    assert here.due <= time.monotonic()  # A new one lets nobody rest.


# ── leaving ───────────────────────────────────────────────────────────────────


def test_a_holder_leaves_when_nothing_is_half_done_or_after_a_while(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    assert not joined.may_leave(is_busy=False)
    before = time.monotonic()
    keeper.say(do="leave")
    here.hear()

    assert joined.leave_by is not None
    assert joined.leave_by >= before + LEAVE_PATIENCE
    assert here.due == joined.leave_by
    assert joined.may_leave(is_busy=False)
    assert not joined.may_leave(is_busy=True)
    joined.leave_by = before
    assert joined.may_leave(is_busy=True)
    assert not joined.doze([], 0)
    assert not keeper.has_more()
