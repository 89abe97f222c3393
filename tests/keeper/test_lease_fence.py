import os
import selectors
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper.lease_fence import AT_ONCE, GRACE, LeaseFence
from holdfast.keeper.vault import Deposit, Vault
from holdfast.linux import cgroups
from holdfast.model import holder_orders as orders
from holdfast.model.lease_words import LeaseWord, Movable

RELAY = "https://relay"
needs_cgroups = pytest.mark.skipif(
    cgroups.ground().folder is None, reason="no cgroup can be made here"
)


def boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class World:
    """A fence, with what it says to a host and to holders."""

    def __init__(self) -> None:
        self.vault = Vault()
        self.selector = selectors.DefaultSelector()
        self.ordered: list[tuple[str, orders.HolderOrder]] = []
        self.told: list[list[Movable]] = []
        self.fence = LeaseFence(
            self.vault,
            self.selector,
            self.told.append,
        )
        self.fence.tell_holder = lambda *told: self.ordered.append(told)

    def deposit(self, session: str = "s_a", **facts: object) -> Deposit:
        known = {"name": "web", "authority": RELAY, "incarnation": 2, **facts}
        kept = self.vault.deposits[session] = Deposit(known, [], 0.0)
        self.fence.deposited(session)
        return kept

    def turn(self, patience: float = 5.0) -> bool:
        found = self.selector.select(patience)
        for key, events in found:
            key.data(key.fileobj, events)
        return bool(found)


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.selector.close()


@pytest.fixture
def cgroup() -> Iterator[cgroups.SessionCgroup]:
    folder = cgroups.ground().folder
    assert folder is not None
    made = cgroups.SessionCgroup.below(folder, f"s_lease-{os.getpid()}")
    made.make()
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: S607  # whichever there is
        made.settle(process.pid)
        yield made
        process.kill()
        made.thaw()
    made.remove()


def test_a_host_is_told_of_movable_sessions_alone(world: World) -> None:
    world.deposit(expires=5.0)
    world.deposit("s_b", authority="")

    assert world.told == [[Movable("s_a", "web", 2, RELAY, 5.0)]]


def test_a_host_that_comes_later_is_told_of_all(world: World) -> None:
    for number in range(AT_ONCE + 1):
        world.deposit(f"s_{number}")
    world.told.clear()

    world.fence.greet()

    assert [len(part) for part in world.told] == [AT_ONCE, 1]


def test_a_new_expiry_is_kept_and_passed_on(world: World) -> None:
    kept = world.deposit()

    world.fence.told([LeaseWord("s_a", 2, 99.0, "", 0)])

    assert (kept.held.expires, kept.held.leased) == (99.0, True)
    assert kept.facts["expires"] == 99.0
    assert world.ordered == [("s_a", orders.Lease(2, 99.0))]


@pytest.mark.parametrize("word", [LeaseWord("s_x", 2, 9.0), LeaseWord("s_a", 1, 9.0)])
def test_a_word_about_another_session_or_life_is_nothing(
    world: World, word: LeaseWord
) -> None:
    kept = world.deposit()

    world.fence.told([word])

    assert not kept.held.leased
    assert not world.ordered


def test_a_fence_before_the_first_grant_is_no_grant(world: World) -> None:
    kept = world.deposit()

    world.fence.told([LeaseWord("s_a", 2, 0.0, "why")])

    assert not kept.held.leased


def test_the_end_of_a_session_and_of_its_record_are_told(world: World) -> None:
    kept = world.deposit()
    world.told.clear()

    kept.exit = 0
    world.fence.ended("s_a")
    world.fence.forgotten("s_a")
    world.fence.forgotten("s_unknown")

    (ended,), (gone,) = world.told
    assert (ended.over, ended.gone, gone.over, gone.gone) == (True, False, True, True)


def test_sessions_of_older_code_are_taken_up(world: World) -> None:
    world.deposit()
    world.told.clear()

    world.fence.resume()

    assert len(world.told) == 1


@needs_cgroups
def test_a_session_is_frozen_a_moment_after_its_expiry(
    world: World, cgroup: cgroups.SessionCgroup
) -> None:
    expiry = boottime()
    world.deposit(expires=expiry, cgroup=str(cgroup.folder))

    assert not cgroup.is_frozen()
    assert world.turn()

    assert boottime() >= expiry + GRACE
    assert cgroup.freeze()


@needs_cgroups
def test_a_session_that_was_renewed_is_left_alone(
    world: World, cgroup: cgroups.SessionCgroup
) -> None:
    world.deposit(expires=boottime(), cgroup=str(cgroup.folder))
    world.fence.told([LeaseWord("s_a", 2, boottime() + 60)])

    assert world.turn()

    assert not cgroup.is_frozen()


@needs_cgroups
def test_a_word_that_the_lease_is_lost_fences_at_once(
    world: World, cgroup: cgroups.SessionCgroup
) -> None:
    world.deposit(expires=boottime() + 60, cgroup=str(cgroup.folder))

    world.fence.told([LeaseWord("s_a", 2, 0.0, "why")])
    assert world.turn()

    text = Path(cgroup.folder, "cgroup.freeze").read_text()
    assert text.strip() == "1"


def test_what_has_ended_is_not_fenced(world: World) -> None:
    kept = world.deposit(expires=1.0, cgroup="/nowhere")
    kept.exit = 0

    assert world.turn()


def test_a_cgroup_that_is_gone_does_no_harm(world: World) -> None:
    world.deposit(expires=1.0, cgroup="/nowhere")

    assert world.turn()


@needs_cgroups
def test_a_lease_that_was_renewed_in_time_is_not_fenced(
    world: World, cgroup: cgroups.SessionCgroup
) -> None:
    world.deposit(expires=boottime() - GRACE + 0.1, cgroup=str(cgroup.folder))
    world.fence.told([LeaseWord("s_a", 2, boottime() + 60, "", 0)])

    assert world.turn()
    time.sleep(0.2)  # A freeze takes a moment to be seen.

    assert not cgroup.is_frozen()
