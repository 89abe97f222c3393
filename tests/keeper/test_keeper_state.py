"""What a keeper does when holders and nurseries come, die, and are told to go."""

import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.keeper_world import ONE, TWO, House, house

from holdfast.keeper.keeper_state import HEIR_PATIENCE, MAX_FORGOTTEN
from holdfast.keeper.upgrade import BornDead, Forgotten, Left
from holdfast.linux import packets, session_lock
from holdfast.linux.replacements import replacement
from holdfast.linux.stored import places


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with house(tmp_path) as made:
        yield made


def words(told: list[packets.Packet]) -> list[object]:
    return [one.get("do") for one in told]


def planned(here: House, session: str = ONE) -> float:
    at = here.kept(session).replace_at
    return math.inf if at is None else at


def gripped(here: House) -> int:
    """Return a process that has the grip of a session, and no link."""
    memory = here.kept().memory
    child = os.fork()
    if child == 0:
        session_lock.take(memory)
        signal.pause()
    here.turn_until(lambda: session_lock.taken_by(memory) == child)
    return child


# ── holders ───────────────────────────────────────────────────────────────────


def test_of_two_holders_of_a_session_the_older_one_is_killed(here: House) -> None:
    older = here.deposit()
    newer = here.deposit()

    assert older.is_dead()
    assert here.keeper_state.links_of(ONE) == [newer.near]
    assert older.near not in here.keeper_state.links
    assert here.events[0] == Left(ONE)
    assert here.kept().is_held
    assert here.kept().held.holder == newer.pid


def test_a_holder_may_deposit_again_by_the_same_link(here: House) -> None:
    holder = here.deposit()
    here.deposit(holder=holder, name="again")

    assert here.keeper_state.links_of(ONE) == [holder.near]
    assert holder.near in here.keeper_state.links
    assert Left(ONE) not in here.events


def test_for_a_holder_whose_link_ends_another_is_made_of_all_it_had(
    here: House,
) -> None:
    nursery = here.nursery()
    holder = here.deposit(more="for another version")
    here.keeper_state.note_exit(ONE, 3)
    before = time.monotonic()
    holder.hang_up()

    assert here.events == [Left(ONE)]
    assert here.keeper_state.held == {}
    assert before <= planned(here) <= time.monotonic()
    due = here.keeper_state.next_deadline()
    assert due is not None
    assert due <= planned(here)
    here.keeper_state.tick(time.monotonic())
    (asked,) = nursery.asked()
    assert (asked["do"], asked["id"], asked["exit"], asked["fds"]) == (
        *("adopt", ONE, 3),
        4,
    )
    facts = asked["facts"]
    assert isinstance(facts, dict)
    assert facts["more"] == "for another version"
    assert ONE in here.keeper_state.births
    here.keeper_state.vault.hurry(ONE, time.monotonic())
    here.keeper_state.tick(time.monotonic())
    assert nursery.asked() == []  # One is on its way.


def test_without_a_nursery_it_is_tried_again(here: House) -> None:
    here.deposit().hang_up()
    deaths = here.kept().deaths
    here.keeper_state.tick(time.monotonic())

    assert ONE not in here.keeper_state.births
    assert here.kept().deaths == deaths + 1
    assert planned(here) < math.inf


def test_a_holder_that_has_lost_its_link_is_ended_before_another_is_made(
    here: House,
) -> None:
    nursery = here.nursery()
    here.deposit().hang_up()
    gripping = gripped(here)
    here.keeper_state.tick(time.monotonic())

    assert os.waitpid(gripping, 0)[1] == signal.SIGKILL
    assert words(nursery.asked()) == ["adopt"]


def test_a_nursery_of_older_code_is_not_given_what_was_left(here: House) -> None:
    nursery = here.nursery(dozes=False)
    holder = here.deposit()
    here.keeper_state.vault.doze(ONE, [os.memfd_create("left")], 5)
    holder.hang_up()
    here.keeper_state.wake(ONE)
    here.keeper_state.tick(time.monotonic())

    (asked,) = nursery.asked()
    facts = asked["facts"]
    assert isinstance(facts, dict)
    assert (asked["fds"], facts["left"]) == (4, 0)


def test_a_nursery_that_knows_of_dozing_is_given_what_was_left(here: House) -> None:
    nursery = here.nursery()
    holder = here.deposit()
    here.keeper_state.vault.doze(ONE, [os.memfd_create("left")], 5)
    holder.hang_up()
    here.keeper_state.tick(time.monotonic())
    assert nursery.asked() == []  # It dozes.
    here.keeper_state.wake(ONE)
    here.keeper_state.tick(time.monotonic())

    (asked,) = nursery.asked()
    facts = asked["facts"]
    assert isinstance(facts, dict)
    assert (asked["fds"], facts["left"]) == (5, 1)


def test_a_holder_is_killed_by_its_link(here: House) -> None:
    holder = here.deposit()

    assert here.keeper_state.kill_holder(ONE)
    assert holder.is_dead()
    assert planned(here) == math.inf  # The end of its link tells.


def test_in_place_of_a_holder_without_a_link_another_is_planned(here: House) -> None:
    here.deposit().hang_up()
    here.keeper_state.vault.due(math.inf)
    here.keeper_state.births.begin(ONE, time.monotonic())

    assert not here.keeper_state.kill_holder(ONE)
    assert planned(here) <= time.monotonic()
    assert ONE not in here.keeper_state.births


def test_a_session_that_dozes_is_woken_rather_than_killed(here: House) -> None:
    holder = here.deposit()
    here.keeper_state.vault.doze(ONE, [os.memfd_create("left")], 5)
    holder.hang_up()

    assert not here.keeper_state.kill_holder(ONE)
    assert not here.kept().is_dozing
    assert planned(here) <= time.monotonic()


def test_only_the_first_word_of_how_a_leader_ended_counts(here: House) -> None:
    here.deposit()
    here.keeper_state.note_exit(TWO, 1)
    here.keeper_state.note_exit(ONE, "1")
    assert here.kept().exit is None
    here.keeper_state.note_exit(ONE, 4)
    here.keeper_state.note_exit(ONE, 5)

    assert here.kept().exit == 4


def test_what_was_replaced_is_told_to_every_other_session_once(here: House) -> None:
    one, two = here.deposit(ONE), here.deposit(TWO)
    for holder in (one, two):
        holder.told()
    here.keeper_state.was_replaced(replacement("judge", 7, "it hung"))
    here.keeper_state.was_replaced(replacement("holder", 8, "it hung", TWO))

    assert [(told["do"], told["pid"]) for told in one.told()] == [("replaced", 7)]
    assert [(told["do"], told["pid"]) for told in two.told()] == [("replaced", 7)]
    here.keeper_state.tell_replaced(two.near, TWO)
    assert [told["pid"] for told in two.told()] == [8]


# ── what is forgotten ─────────────────────────────────────────────────────────


def test_a_session_that_is_forgotten_leaves_nothing_but_its_book(here: House) -> None:
    holder = here.deposit()
    holder.told()
    places.session_socket(ONE).touch()
    places.session_log(ONE).touch()
    fds = here.kept().fds
    here.keeper_state.births.begin(ONE, time.monotonic())
    here.keeper_state.forget(ONE)

    assert words(holder.told()) == ["forget"]
    assert here.keeper_state.held == {}
    assert ONE not in here.keeper_state.vault.deposits
    assert ONE not in here.keeper_state.births
    assert here.events[-1] == Forgotten(ONE)
    assert not places.session_socket(ONE).exists()
    assert places.session_log(ONE).exists()
    assert here.keeper_state.watched.next_deadline() is None
    for fd in fds:
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(fd)
    holder.hang_up()
    assert Left(ONE) not in here.events
    assert ONE in here.keeper_state.forgotten


def test_so_many_sessions_are_known_to_be_forgotten_and_no_more(here: House) -> None:
    for number in range(MAX_FORGOTTEN + 1):
        here.keeper_state.forget(f"s_{number:016d}")

    assert len(here.keeper_state.forgotten) == MAX_FORGOTTEN
    assert "s_" + "0" * 16 not in here.keeper_state.forgotten
    assert f"s_{MAX_FORGOTTEN:016d}" in here.keeper_state.forgotten


# ── what was inherited ────────────────────────────────────────────────────────


def test_what_a_dead_keeper_had_is_taken_up_when_its_holder_may_have_come(
    here: House,
) -> None:
    alive = here.deposit(ONE)
    facts = {**here.kept().facts, "holder": alive.pid}
    fds = [os.dup(fd) for fd in here.kept().fds]
    before = time.monotonic()
    here.keeper_state.inherit(TWO, {**facts, "dozing": True, "idle_ms": 4}, fds[:4])

    assert not here.kept(TWO).is_held
    assert here.kept(TWO).is_dozing  # Nobody has the grip: its holder is gone.
    assert planned(here, TWO) == math.inf
    here.keeper_state.vault.deposits.pop(TWO)
    here.keeper_state.inherit(TWO, facts, fds)
    assert before + HEIR_PATIENCE <= planned(here, TWO)
    assert planned(here, TWO) <= time.monotonic() + HEIR_PATIENCE


def test_of_a_dead_holder_another_is_made_at_once(here: House) -> None:
    here.deposit(ONE)
    facts = {**here.kept().facts, "holder": 4_000_000}
    here.keeper_state.inherit(TWO, facts, [os.dup(fd) for fd in here.kept().fds])

    assert planned(here, TWO) <= time.monotonic()


def test_what_we_have_already_is_not_inherited(here: House) -> None:
    here.deposit()
    fds = [os.dup(fd) for fd in here.kept().fds]
    here.keeper_state.inherit(ONE, {**here.kept().facts, "name": "old"}, fds)

    assert here.kept().record.name != "old"
    for fd in fds:
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(fd)


# ── nurseries ─────────────────────────────────────────────────────────────────


def test_a_nursery_says_what_it_can(here: House) -> None:
    nursery = here.nursery()
    found = nursery.nursery

    assert (found.version, found.waits, found.pings, found.dozes) == (
        *("9.9", True, True),
        True,
    )
    nursery.say(do="ready", version="1.0")
    assert (found.version, found.waits, found.pings, found.dozes) == (
        *("1.0", False, False),
        False,
    )
    assert nursery.asked() == []  # One that does not know pings is not asked.
    nursery.say(do="ready", version="1.1", pings=True)
    assert nursery.asked() == [{"do": "ping", "pongs": True, "fds": 0}]
    nursery.say(do="ping")
    assert nursery.asked() == [{"do": "pong", "fds": 0}]


def test_a_fork_that_dies_before_its_deposit_is_told_to_who_waits(
    here: House,
) -> None:
    nursery, asker = here.nursery(), here.peer()
    here.keeper_state.waiting[TWO] = asker.near
    here.keeper_state.births.begin(TWO, time.monotonic())
    places.session_log(TWO).touch()
    nursery.say(do="stillborn", key=TWO)

    (answer,) = asker.told()
    assert (answer["ok"], answer["code"]) == (False, "no-keeper")
    assert here.keeper_state.waiting == {}
    assert here.events == [BornDead(TWO)]
    assert not places.session_log(TWO).exists()
    (given_up,) = here.keeper_state.given_up.status()
    assert (given_up.id, given_up.why) == (TWO, "could not be watched")


def test_a_successor_that_dies_early_is_followed_by_another(here: House) -> None:
    nursery = here.nursery()
    here.deposit().hang_up()
    places.session_log(ONE).touch()
    here.keeper_state.tick(time.monotonic())
    child = os.fork()
    if child == 0:
        signal.pause()
    pidfd = os.pidfd_open(child)
    nursery.say(pidfd, do="forked", key=ONE, pid=child)
    os.close(pidfd)
    assert ONE in here.keeper_state.births
    assert planned(here) == math.inf
    os.kill(child, signal.SIGKILL)
    here.turn_until(lambda: ONE not in here.keeper_state.births)
    os.waitpid(child, 0)

    assert planned(here) <= time.monotonic()
    assert here.events[-1] == BornDead(ONE)
    assert places.session_log(ONE).exists()


def test_what_a_dead_nursery_had_not_made_is_asked_for_again(here: House) -> None:
    nursery = here.nursery()
    here.deposit().hang_up()
    here.keeper_state.tick(time.monotonic())
    assert ONE in here.keeper_state.births
    nursery.hang_up()

    assert here.keeper_state.nursery is None
    assert ONE not in here.keeper_state.births
    assert planned(here) <= time.monotonic()
    due = here.keeper_state.next_deadline()
    assert due is not None
    assert due <= time.monotonic()
    here.keeper_state.tick(due)
    started = here.keeper_state.nursery
    assert started is not None
    os.kill(started.pid, 0)
    started.end()
    os.waitpid(started.pid, 0)


def test_a_nursery_whose_packet_makes_no_sense_is_ignored(here: House) -> None:
    nursery = here.nursery()
    fd = os.memfd_create("x")
    nursery.say(fd, fd, do="forked", key=ONE, pid=5)
    nursery.say(fd, do="dance")
    os.close(fd)

    assert nursery.nursery is here.keeper_state.nursery
    assert nursery.asked() == []


def test_a_successor_made_early_waits_for_the_grip_of_one_that_has_it(
    here: House,
) -> None:
    nursery = here.nursery()
    here.deposit()
    here.keeper_state.prepare_successor(TWO)
    here.keeper_state.prepare_successor(ONE)
    assert nursery.asked() == []  # Its holder is of older code, and has no grip.
    gripping = gripped(here)
    nursery.nursery.waits = False
    here.keeper_state.prepare_successor(ONE)
    assert nursery.asked() == []
    nursery.nursery.waits = True
    here.keeper_state.prepare_successor(ONE)
    os.kill(gripping, signal.SIGKILL)
    os.waitpid(gripping, 0)

    assert words(nursery.asked()) == ["adopt"]
    assert ONE in here.keeper_state.births
