import fcntl
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.linux.trees import (
    PATIENCE,
    SESSION,
    ended,
    eventually,
    found,
    leader,
    stands,
)

from holdfast.linux.cgroups import (
    MEMBERS,
    SessionCgroup,
    claim,
    ground,
    outside,
    own_folder,
    sweep,
)
from holdfast.linux.freezer import freeze, thaw

BESIDE = """\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
37 31 0:34 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""

COUNTING = """
import os, sys, time
sys.stdin.readline()
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writer, str(os.getpid()).encode())
        while True:
            time.sleep(0.001)
    os._exit(0)
os.wait()
print(os.getpid(), os.read(reader, 20).decode(), flush=True)
while True:
    time.sleep(0.001)
"""


@pytest.fixture
def cgroup() -> Iterator[SessionCgroup]:
    place = ground()
    if place.folder is None:
        pytest.skip(place.why_not)
    made = SessionCgroup.below(place.folder, f"test-{os.getpid()}")
    made.make()
    yield made
    made.thaw()

    def is_gone() -> bool:
        made.remove()
        return not made.folder.exists()

    eventually("it is empty", is_gone)


def test_the_mount_is_found_beside_the_first_version() -> None:
    folder = own_folder(BESIDE, "4:memory:/x\n0::/user.slice/a b\n")

    assert folder == Path("/sys/fs/cgroup/unified/user.slice/a b")


def test_a_container_that_sees_a_part_of_the_tree_finds_itself_in_it() -> None:
    mounts = "41 31 0:38 /pods/p\\040q /cg rw - cgroup2 cgroup2 rw\n"

    assert own_folder(mounts, "0::/pods/p q/c\n") == Path("/cg/c")
    assert own_folder(mounts, "0::/elsewhere\n") is None


@pytest.mark.parametrize("own", ["", "1:cpu:/\n"])
def test_without_the_second_version_there_is_no_folder(own: str) -> None:
    assert own_folder(BESIDE, own) is None
    assert own_folder("", "0::/\n") is None


def test_threads_that_look_at_once_find_the_same_ground() -> None:
    place = ground()
    if place.folder is None:
        pytest.skip(place.why_not)

    with ThreadPoolExecutor(4) as threads:
        looks = [threads.submit(ground.__wrapped__) for _ in range(200)]

    assert {look.result() for look in looks} == {place}


def test_looking_for_the_ground_leaves_nothing_behind() -> None:
    place = ground()

    assert (place.folder is None) == bool(place.why_not)
    if place.folder is not None:
        assert not (place.folder / f"holdfast-probe-{os.getpid()}").exists()


def test_what_is_empty_is_swept_and_nothing_else(cgroup: SessionCgroup) -> None:
    place = cgroup.folder.parent
    gone = SessionCgroup(place / "holdfast-probe-0")
    busy = SessionCgroup(place / f"holdfast-probe-{os.getpid()}")
    for made in (gone, busy):
        made.make()

    sweep(place)

    assert not gone.folder.exists()
    assert busy.folder.exists()
    busy.remove()


def test_no_cgroup_is_swept_before_something_is_in_it(cgroup: SessionCgroup) -> None:
    made = SessionCgroup(cgroup.folder / "holdfast-s_x")
    with leader("input()") as session:
        with made.claimed():
            sweep(cgroup.folder)
            made.settle(session.pid)
        sweep(cgroup.folder)
        assert made.pids() == {session.pid}

    sweep(cgroup.folder)
    assert not made.folder.exists()


def test_what_was_swept_before_it_could_be_locked_is_made_again(
    cgroup: SessionCgroup,
) -> None:
    made = SessionCgroup(cgroup.folder / "holdfast-s_x")
    made.make()
    with (made.folder / MEMBERS).open("w") as sweeping, ThreadPoolExecutor(1) as other:
        fcntl.flock(sweeping, fcntl.LOCK_EX)
        claimed = other.submit(claim, made.folder)
        eventually("it waits", lambda: "-> FLOCK" in Path("/proc/locks").read_text())
        made.remove()
        sweeping.close()

        handle = claimed.result(PATIENCE)

    assert made.folder.exists()
    os.close(handle)
    made.remove()


def test_a_session_with_a_cgroup_is_frozen_by_it(cgroup: SessionCgroup) -> None:
    with leader(COUNTING) as session:
        cgroup.settle(session.pid)
        session.input.write(b"go\n")
        session.input.flush()
        pids = session.pids()
        try:
            frozen = freeze(session.tree, cgroup)
            assert (frozen.by, frozen.count, frozen.missed) == ("cgroup", 2, ())
            assert frozen.stopped == ()
            assert cgroup.is_frozen()
            assert cgroup.pids() == set(pids)

            thaw(frozen)
            eventually("it goes on", lambda: not cgroup.is_frozen())
        finally:
            ended(pids[1])


def test_what_left_the_cgroup_is_stopped_by_a_signal(cgroup: SessionCgroup) -> None:
    with leader(COUNTING) as session:
        session.input.write(b"go\n")
        session.input.flush()
        _, outside = session.pids()
        cgroup.settle(session.pid)
        try:
            frozen = freeze(session.tree, cgroup)
            assert (frozen.by, frozen.count, frozen.missed) == ("cgroup", 2, ())
            assert [pid for pid, _ in frozen.stopped] == [outside]
            assert stands(outside)

            thaw(frozen)
            eventually("it goes on", lambda: not stands(outside))
        finally:
            ended(outside)


def test_a_cgroup_that_is_gone_leaves_the_work_to_signals(tmp_path: Path) -> None:
    with leader(COUNTING) as session:
        session.input.write(b"go\n")
        session.input.flush()
        _, daemon = session.pids()
        try:
            frozen = freeze(session.tree, SessionCgroup(tmp_path / SESSION))
            assert (frozen.by, frozen.count) == ("signals", 2)
            assert found(session.pid).is_stopped
        finally:
            ended(daemon)


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("/cg/user.slice", None),
        ("/cg/holdfast-s_a", "/cg"),
        ("/cg/x/holdfast-s_a/y", "/cg/x"),
        ("/cg/holdfast-s_a/holdfast-s_b", "/cg"),
    ],
)
def test_what_serves_all_sessions_goes_outside_of_every_one(
    folder: str, place: str | None
) -> None:
    assert outside(Path(folder)) == (None if place is None else Path(place))
