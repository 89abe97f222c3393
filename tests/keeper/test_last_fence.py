import os
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from holdfast.keeper.last_fence import GRACE, LastFence
from holdfast.keeper.lease_fence import GRACE as KEEPERS_GRACE
from holdfast.keeper.trustee import Trust
from holdfast.linux import cgroups

needs_cgroups = pytest.mark.skipif(
    cgroups.ground().folder is None, reason="no cgroup can be made here"
)
RELAY = "https://relay"


def boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@pytest.fixture
def cgroup() -> Iterator[cgroups.SessionCgroup]:
    folder = cgroups.ground().folder
    assert folder is not None
    made = cgroups.SessionCgroup.below(folder, f"s_last-{os.getpid()}")
    made.make()
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        made.settle(process.pid)
        yield made
        process.kill()
        made.thaw()
    made.remove()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def trusted(cgroup: cgroups.SessionCgroup, expires: float, **more: object) -> Trust:
    trust = Trust()
    facts = {"authority": RELAY, "cgroup": str(cgroup.folder), "expires": expires}
    trust.take({"id": "s_a", "facts": {**facts, **more}, "exit": None}, [])
    return trust


def becomes_frozen(cgroup: cgroups.SessionCgroup) -> bool:
    deadline = time.monotonic() + 5
    while not cgroup.is_frozen() and time.monotonic() < deadline:
        time.sleep(0.01)
    return cgroup.is_frozen()


def test_it_is_later_than_the_keeper_and_in_time() -> None:
    assert KEEPERS_GRACE < GRACE < 0.5


@needs_cgroups
def test_what_nobody_has_fenced_is_fenced(cgroup: cgroups.SessionCgroup) -> None:
    trust = trusted(cgroup, boottime() - GRACE)

    trust.fence.tick()

    assert becomes_frozen(cgroup)


@needs_cgroups
def test_it_waits_for_its_moment(
    cgroup: cgroups.SessionCgroup, pair: tuple[socket.socket, socket.socket]
) -> None:
    trust = trusted(cgroup, boottime() + 0.1 - GRACE)
    ours, theirs = pair
    began = time.monotonic()

    trust.fence.tick()
    assert not cgroup.is_frozen()
    assert not trust.fence.wait(ours, 5.0)
    assert time.monotonic() - began < 4
    trust.fence.tick()

    assert becomes_frozen(cgroup)
    theirs.send(b"x")
    assert trust.fence.wait(ours, 5.0)


@needs_cgroups
@pytest.mark.parametrize("what", ["renewed", "ended", "pinned", "dropped", "known"])
def test_what_may_run_is_left_alone(cgroup: cgroups.SessionCgroup, what: str) -> None:
    more = {"authority": ""} if what == "pinned" else {}
    trust = trusted(cgroup, boottime() - GRACE, **more)
    match what:
        case "renewed":
            trust.take_expiries({"s_a": boottime() + 60, "s_unknown": 1.0})
        case "known":
            trust = trusted(cgroup, boottime() + 60)
        case "ended":
            trust.copies["s_a"].exit = 0
        case "dropped":
            trust.drop("s_a")
        case _:
            pass

    trust.fence.tick()
    time.sleep(0.2)  # A freeze takes a moment to be seen.

    assert not cgroup.is_frozen()


def test_what_is_no_expiry_is_none() -> None:
    fence = LastFence(lambda _: None)

    for odd in (None, "soon", 0.0, -1.0):
        fence.told("s_a", odd)
    fence.tick()
    Trust().take_expiries("odd")

    assert fence.is_idle


def test_a_fork_begins_with_what_the_keeper_knows() -> None:
    trust = Trust()
    trust.take({"id": "s_a", "facts": {"expires": 5.0}, "exit": None}, [])

    again = Trust(trust.copies)

    assert again.copies["s_a"].facts["expires"] == 5.0
