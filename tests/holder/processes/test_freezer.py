import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import pytest
from tests.linux.trees import SESSION, eventually, leader, stands

from holdfast.holder.processes.freezer import Freezer
from holdfast.linux import cgroups, freezer
from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.stored import places

FAMILY = """
import os, signal
pids = [os.getpid()]
for number in range(4):
    pid = os.fork()
    if pid == 0:
        if number % 2:
            os.setpgid(0, 0)
        signal.pause()
    pids.append(pid)
print(*pids, flush=True)
signal.pause()
"""

OURS = ("holdfast/holder/processes/freezer.py", "holdfast/linux/freezer.py")
"""Where a step of a freeze or a thaw is a line."""

FEW = 15
"""Moments at which a holder is killed, spread over all there are."""


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "run"


@contextmanager
def full(folder: Path, size: str = "16k") -> Iterator[None]:
    """Have a folder on a file system on which nothing more can be written."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a full file system")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    how = ["-o", f"size={size},mode=700"]
    words = ["mount", "-t", "tmpfs", *how, "none", str(folder)]
    subprocess.run(words, check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S607


def fill(folder: Path) -> None:
    with (folder / "filling").open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def stand(pids: list[int]) -> None:
    assert all(map(stands, pids)), [pid for pid in pids if not stands(pid)]


def go_on(pids: list[int]) -> None:
    eventually("all go on", lambda: not any(map(stands, pids)))


def cut_at(step: int, what: Callable[[], object]) -> bool:
    """Do something in a process that is killed at a step; tell whether it was."""
    pid = os.fork()
    if pid == 0:
        left = step

        def count(frame: FrameType, event: str, _: object) -> object:
            nonlocal left
            if not frame.f_code.co_filename.endswith(OURS):
                return None
            left -= event == "line"
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return count

        try:
            sys.settrace(count)  # type: ignore[arg-type]
            what()
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def cut_anywhere(
    begin: Callable[[], object], what: Callable[[], object]
) -> Iterator[int]:
    """Do something, killed at one step after the other, until it is not."""
    most = 1
    begin()
    while cut_at(most, what):
        yield most
        most *= 2
        begin()
    yield most
    for step in range(0, most, max(1, most // FEW)):
        begin()
        cut_at(step, what)
        yield step


def test_a_session_stands_still_and_goes_on() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        halting = Freezer(SESSION, session.pid)
        before = descriptors()

        halting.prepare()
        frozen = halting.freeze()
        stand(pids)
        assert (frozen.count, frozen.missed) == (5, ())
        path = places.session_frozen(SESSION)
        assert path.stat().st_mode & 0o777 == 0o600
        assert freezer.Frozen.from_facts(json.loads(path.read_bytes())) == frozen

        assert halting.thaw() == freezer.Thawed(5)
        go_on(pids)
        assert not list(path.parent.glob("*.frozen*"))
        assert descriptors() == before


def test_a_second_freeze_forgets_nothing_of_the_first() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        Freezer(SESSION, session.pid).freeze()
        os.kill(pids[2], signal.SIGCONT)

        assert Freezer(SESSION, session.pid).freeze().missed == ()
        stand(pids)
        Freezer(SESSION, session.pid).thaw()
        go_on(pids)


def test_the_cgroup_of_a_session_that_is_over_is_gone() -> None:
    with own_cgroup() as cgroup:
        Freezer(SESSION, os.getpid()).tidy()
        assert cgroup.folder.exists()
        Freezer(SESSION, os.getpid(), str(cgroup.folder)).tidy()
        assert not cgroup.folder.exists()


@contextmanager
def own_cgroup() -> Iterator[SessionCgroup]:
    ground = cgroups.ground()
    if ground.folder is None:
        pytest.skip(ground.why_not)
    made = SessionCgroup.below(ground.folder, SESSION)
    made.make()
    try:
        yield made
    finally:
        made.thaw()
        deadline = time.monotonic() + 10
        while made.folder.exists() and time.monotonic() < deadline:
            made.remove()


def test_a_thaw_of_a_cgroup_asks_the_kernel_whatever_the_record_says() -> None:
    with ExitStack() as stack:
        cgroup = stack.enter_context(own_cgroup())
        session = stack.enter_context(leader(FAMILY))
        for pid in session.pids():
            cgroup.settle(pid)
        halting = Freezer(SESSION, session.pid, str(cgroup.folder))

        assert halting.freeze().by == "cgroup"
        assert cgroup.is_frozen()
        places.session_frozen(SESSION).unlink()
        assert Freezer(SESSION, session.pid, str(cgroup.folder)).thaw() == (
            freezer.Thawed(0)
        )
        assert not cgroup.is_frozen()


def test_what_gets_a_signal_with_its_group_goes_on_also_out_of_a_cgroup() -> None:
    """Some of a group is in the session's cgroup, some has left it, one is stopped."""
    with ExitStack() as stack:
        cgroup = stack.enter_context(own_cgroup())
        session = stack.enter_context(leader(FAMILY))
        pids = session.pids()
        inside, suspended = pids[1], pids[3]
        cgroup.settle(inside)
        os.kill(suspended, signal.SIGSTOP)
        eventually("it is suspended", lambda: stands(suspended))
        halting = Freezer(SESSION, session.pid, str(cgroup.folder))

        halting.freeze()
        stand([pids[0]])
        halting.thaw()

        go_on([pid for pid in pids if pid != suspended])
        assert stands(suspended)


def test_what_is_held_from_above_is_not_said_to_go_on() -> None:
    with ExitStack() as stack:
        above = stack.enter_context(own_cgroup())
        cgroup = SessionCgroup(above.folder / "below")
        cgroup.make()
        stack.callback(cgroup.remove)
        session = stack.enter_context(leader(FAMILY))
        for pid in session.pids():
            cgroup.settle(pid)
        halting = Freezer(SESSION, session.pid, str(cgroup.folder))
        halting.freeze()
        assert above.freeze()

        assert halting.thaw().is_held
        assert places.session_frozen(SESSION).exists()
        above.thaw()
        assert not halting.thaw().is_held
        assert not cgroup.is_frozen()


def test_on_a_full_folder_it_stands_still_and_goes_on_all_the_same(
    runtime: Path,
) -> None:
    with full(runtime), leader(FAMILY) as session:
        pids = session.pids()
        places.session_dir()
        fill(runtime)
        halting = Freezer(SESSION, session.pid)

        halting.prepare()
        assert halting.freeze().missed == ()
        stand(pids)
        assert halting.thaw() == freezer.Thawed(5)
        go_on(pids)


def test_a_successor_on_a_full_folder_finds_out_from_the_kernel(runtime: Path) -> None:
    with full(runtime), leader(FAMILY) as session:
        pids = session.pids()
        places.session_dir()
        fill(runtime)
        first = Freezer(SESSION, session.pid)
        first.prepare()
        first.freeze()

        second = Freezer(SESSION, session.pid)
        second.take_up(is_frozen=True)
        stand(pids)
        second.thaw()

        go_on(pids)


def test_a_folder_that_fills_up_meanwhile_hides_nothing_that_was_stopped(
    runtime: Path,
) -> None:
    with full(runtime), leader(FAMILY) as session:
        pids = session.pids()
        halting = Freezer(SESSION, session.pid)
        halting.prepare()
        assert places.session_frozen(SESSION).exists()
        fill(runtime)
        halting.freeze()

        second = Freezer(SESSION, session.pid)
        second.take_up(is_frozen=True)
        second.thaw()

        go_on(pids)


def test_a_record_that_is_damaged_is_none() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        second = Freezer(SESSION, session.pid)
        second.freeze()
        for damaged in (b"", b"[]", b"{", b'{"by": "signals", "stopped": [[1]]}'):
            places.session_frozen(SESSION).write_bytes(damaged)
            second = Freezer(SESSION, session.pid)
            second.take_up(is_frozen=True)
            stand(pids)
        second.thaw()
        go_on(pids)


def test_a_kill_at_any_step_of_a_freeze_leaves_what_a_successor_can_undo() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        os.kill(pids[1], signal.SIGSTOP)  # As a job that somebody has suspended.
        eventually("it stands", lambda: stands(pids[1]))
        others = [pid for pid in pids if pid != pids[1]]

        def undo() -> None:
            successor = Freezer(SESSION, session.pid)
            successor.take_up(is_frozen=True)
            stand(pids)
            successor.thaw()
            go_on(others)

        def freeze() -> None:
            Freezer(SESSION, session.pid).freeze()

        def prepare() -> None:
            Freezer(SESSION, session.pid).prepare()

        for step in cut_anywhere(prepare, freeze):
            undo()
            assert stands(pids[1]), f"after step {step} what stood before was woken"


def test_a_kill_at_any_step_of_a_thaw_leaves_what_a_successor_can_finish() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()

        def freeze() -> None:
            Freezer(SESSION, session.pid).prepare()
            Freezer(SESSION, session.pid).freeze()
            stand(pids)

        def thaw() -> None:
            Freezer(SESSION, session.pid).thaw()

        for _ in cut_anywhere(freeze, thaw):
            # It had not noted yet that the session goes on.
            successor = Freezer(SESSION, session.pid)
            successor.take_up(is_frozen=True)
            stand(pids)
            successor.thaw()
            go_on(pids)


def test_a_kill_before_anybody_noted_the_freeze_leaves_nothing_behind() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        Freezer(SESSION, session.pid).prepare()

        Freezer(SESSION, session.pid).take_up(is_frozen=False)

        go_on(pids)
        assert not places.session_frozen(SESSION).exists()
