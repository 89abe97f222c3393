import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from holdfast.linux.tree_usage import Root, TreeUsage

BUSY = "import sys\nsum(range(10**7))\nprint('x', flush=True)\nsys.stdin.read()"
LEFT = (
    "import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\n"
    "if os.fork(): os._exit(0)\n" + BUSY
)


@pytest.fixture
def shell() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(["/bin/sh", "-c", "read x"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_what_a_child_has_used_is_its_session_s() -> None:
    words = ["/bin/sh", "-c", f'{sys.executable} -c "{BUSY}"; read x']
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as leader:
        assert leader.stdout is not None
        leader.stdout.readline()

        found = TreeUsage().measured({"s_a": Root(leader.pid)})["s_a"]

        leader.communicate(b"\n")
    assert found.ticks > 0
    assert found.resident > 5_000_000


def test_a_daemon_that_has_left_everything_is_its_session_s_by_its_name(
    shell: "subprocess.Popen[bytes]",
) -> None:
    daemon = subprocess.Popen(
        [sys.executable, "-c", LEFT],
        env={"HOLDFAST_SESSION": "s_a"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert daemon.stdout is not None
    daemon.stdout.readline()
    usage = TreeUsage()

    alone = usage.measured({"s_b": Root(shell.pid)})["s_b"]
    first = usage.measured({"s_a": Root(shell.pid)})["s_a"]
    again = usage.measured({"s_a": Root(shell.pid)})["s_a"]

    daemon.communicate()
    assert first.ticks > alone.ticks
    assert again == first


def test_what_serves_sessions_is_part_of_none(
    shell: "subprocess.Popen[bytes]",
) -> None:
    keeper = subprocess.Popen(
        [sys.executable, "-c", BUSY],
        env={"HOLDFAST_SESSION": "s_a"},
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert keeper.stdout is not None
    keeper.stdout.readline()
    roots = {"s_a": Root(shell.pid)}

    taken = TreeUsage().measured(roots)["s_a"]
    spared = TreeUsage().measured(roots, keeper.pid)["s_a"]

    keeper.communicate()
    assert taken.ticks > spared.ticks


def test_a_session_whose_leader_is_gone_is_left_out() -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()

    assert TreeUsage().measured({"s_a": Root(process.pid)}) == {}


def test_who_has_the_terminal_is_told() -> None:
    pid, master = os.forkpty()
    if not pid:
        os.execv("/bin/sleep", ["sleep", "60"])  # noqa: S606  # the job
    deadline = time.monotonic() + 5
    found = 0
    while found != pid and time.monotonic() < deadline:
        found = TreeUsage().measured({"s_a": Root(pid)})["s_a"].foreground

    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(master)
    assert found == pid
