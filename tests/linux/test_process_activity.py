import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.linux import cgroups, process_activity


def test_one_that_sleeps_stands_still_or_is_gone_is_told_apart() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:  # noqa: S607  # whichever there is
        found = _wait_for(child.pid, "S")
        assert found.cpu < 1
        os.kill(child.pid, signal.SIGSTOP)
        _wait_for(child.pid, "T")
        child.kill()
    assert process_activity.take(child.pid) is None
    assert process_activity.take_closely(child.pid) is None


def test_what_one_has_worked_is_counted_in_seconds() -> None:
    words = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(words) as child:
        deadline = time.monotonic() + 30
        while (found := process_activity.take(child.pid)) is None or found.cpu < 0.2:
            assert time.monotonic() < deadline
        child.kill()
    assert found.state == "R"
    assert found.cpu < 30


def test_one_in_no_frozen_cgroup_is_not_held() -> None:
    found = process_activity.take_closely(os.getpid())

    assert found is not None
    assert not found.is_held


def test_one_in_a_frozen_cgroup_is_held() -> None:
    ground = cgroups.ground()
    if ground.folder is None:
        pytest.skip(ground.why_not)
    own = cgroups.SessionCgroup(ground.folder / f"holdfast-probe-{os.getpid()}")
    own.make()
    try:
        with subprocess.Popen(["sleep", "60"]) as child:  # noqa: S607
            own.settle(child.pid)
            assert own.freeze()
            found = process_activity.take_closely(child.pid)
            child.kill()
    finally:
        own.remove()
    assert found is not None
    assert found.is_held
    assert found.state != "T"


def test_one_in_a_frozen_cgroup_of_the_first_version_is_held() -> None:
    folder = Path("/sys/fs/cgroup/freezer")
    if not os.access(folder / "tasks", os.W_OK):
        pytest.skip("the first version's freezer is not here")
    own = folder / f"holdfast-probe-{os.getpid()}"
    own.mkdir()
    try:
        with subprocess.Popen(["sleep", "60"]) as child:  # noqa: S607
            (own / "tasks").write_text(str(child.pid))
            (own / "freezer.state").write_text("FROZEN")
            deadline = time.monotonic() + 10
            while (
                not (found := process_activity.take_closely(child.pid))
                or not found.is_held
            ):
                assert time.monotonic() < deadline
            (own / "freezer.state").write_text("THAWED")
            child.kill()
    finally:
        own.rmdir()


def _wait_for(pid: int, state: str) -> process_activity.Pulse:
    deadline = time.monotonic() + 10
    while (found := process_activity.take(pid)) is None or found.state != state:
        assert time.monotonic() < deadline
    return found
