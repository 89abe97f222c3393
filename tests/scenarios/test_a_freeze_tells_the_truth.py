"""What stands still and what goes on is what the kernel says, whatever happens."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.holder.processes.test_freezer import fill, full
from tests.linux.trees import stands
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.linux import cgroups, process_activity
from holdfast.linux.process_table import is_to_stop
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

COUNTS = "i=0; while :; do i=$((i+1)); echo $i >{path}; sleep 0.01; done"


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Machine]:
    """Run a machine whose runtime folder takes nothing more once it is filled."""
    folder = tempfile.mkdtemp(prefix="hf")
    with (
        full(Path(folder), "256k"),
        elsewhere(tmp_path / "state"),
        machine(folder) as made,
    ):
        yield made


@contextmanager
def elsewhere(state: Path) -> Iterator[None]:
    os.environ["HOLDFAST_STATE_DIR"] = str(state)
    try:
        yield
    finally:
        del os.environ["HOLDFAST_STATE_DIR"]


def counting(here: Machine, path: Path) -> tuple[SessionId, Client]:
    session = here.new("sh", "-c", COUNTS.format(path=path))
    eventually("it counts", path.exists)
    return session, here.join(session)


def goes_on(path: Path) -> bool:
    before = path.read_text()
    eventually("it counts", lambda: path.read_text() != before)
    return True


def is_still(pid: int) -> bool:
    """Tell whether it stands, or cannot come back from the kernel without standing."""
    seen = process_activity.take_closely(pid)
    held = seen is not None and seen.is_held
    return held or stands(pid) or is_to_stop(pid)


@pytest.mark.parametrize("has_cgroup", [False, True])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_full_runtime_folder_hinders_neither_freeze_nor_thaw(
    crowded: Machine, tmp_path: Path, *, is_killed: bool, has_cgroup: bool
) -> None:
    session, client = counting(crowded, tmp_path / "count")
    leader = crowded.pid("leader", session)
    if not has_cgroup:
        leave_cgroup(leader)
    fill(Path(os.environ["HOLDFAST_RUNTIME_DIR"]))

    assert client.request(wire.Freeze()) is None
    assert is_still(leader)
    if is_killed:
        crowded.replace_holder(session)
        client.attach()
        assert client.who().frozen
        assert is_still(leader)

    assert client.request(wire.Thaw()) is None
    assert not client.who().frozen
    assert goes_on(tmp_path / "count")


def test_what_goes_on_running_is_said_instead_of_frozen(tmp_path: Path) -> None:
    with machine() as here:
        session, client = counting(here, tmp_path / "count")
        leader = here.pid("leader", session)
        leave_cgroup(leader)
        # Nothing that is traced can be held still by a signal: its tracer decides.
        with tracing(leader):
            refused = client.request(wire.Freeze())
            assert refused is not None
            assert refused.code == "freeze-incomplete"
            assert refused.facts["pid"] == leader
            assert client.who().frozen

        assert client.request(wire.Freeze()) is None
        assert is_still(leader)
        assert client.request(wire.Thaw()) is None
        assert goes_on(tmp_path / "count")


def leave_cgroup(pid: int) -> None:
    ground = cgroups.ground().folder
    if ground is not None:
        (ground / "cgroup.procs").write_text(str(pid))


TRACES = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
pid = int(sys.argv[1])
assert libc.ptrace(16, pid, None, None) == 0
os.waitpid(pid, 0x40000000)
print(flush=True)
sys.stdin.read()
libc.ptrace(17, pid, None, None)
"""


@contextmanager
def tracing(pid: int) -> Iterator[None]:
    words = ["python3", "-c", TRACES, str(pid)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as tracer:
        assert tracer.stdout is not None
        assert tracer.stdout.readline() == b"\n"
        yield
        tracer.communicate()
    os.kill(pid, signal.SIGCONT)
