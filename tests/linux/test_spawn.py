import os
import select
import signal
import time
from pathlib import Path

import pytest

from holdfast.linux import processes, pty, spawn
from holdfast.model.errors import CannotStart
from holdfast.model.geometry import Size


def run(*command: str, environment: dict[str, str] | None = None) -> tuple[int, bytes]:
    master, slave = pty.open_pty(Size(80, 24))
    leader = spawn.Leader(command, "/", environment or {"PATH": os.environ["PATH"]})
    pid = spawn.start_leader(leader, slave)
    os.close(slave)
    said = b""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        room = memoryview(bytearray(65536))
        count = pty.read_into(master, room, lambda _: None)
        if count is None:
            break
        said += room[:count]
    _, status = os.waitpid(pid, 0)
    os.close(master)
    return os.waitstatus_to_exitcode(status), said


def test_t49_a_leader_has_three_descriptors_and_no_more() -> None:
    listing = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"

    status, said = run("python3", "-c", listing)

    assert (status, said.strip()) == (0, b"[0, 1, 2]")


def test_t49_a_leader_has_the_environment_it_was_given_and_no_other() -> None:
    _, said = run("/usr/bin/env", environment={"ONLY": "this"})

    assert said.strip() == b"ONLY=this"


def test_a_leader_has_default_signals_and_a_terminal_of_its_own() -> None:
    program = (
        "import os, signal;"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler,"
        " signal.pthread_sigmask(signal.SIG_BLOCK, []),"
        " os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpgrp())"
    )

    _, said = run("python3", "-c", program)

    assert said.strip() == b"True set() True True"


def test_what_we_ignore_a_leader_does_not() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        _, said = run("/bin/grep", "SigIgn", "/proc/self/status")
    finally:
        signal.signal(signal.SIGUSR1, before)

    word, mask = said.split()
    c_library = 0b11 << 31  # Signals 32 and 33 are its own; nobody else can set them.
    assert (word, int(mask, 16) & ~c_library) == (b"SigIgn:", 0)


def children() -> str:
    pid = os.getpid()
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


def test_a_command_that_is_none_is_said_to_be_none_and_leaves_nothing() -> None:
    master, slave = pty.open_pty(Size(80, 24))
    leader = spawn.Leader(("no-such-program",), "/", {"PATH": "/usr/bin"})

    before = children()

    with pytest.raises(CannotStart, match="No such file"):
        spawn.start_leader(leader, slave)
    assert children() == before
    os.close(master)
    os.close(slave)


def test_a_folder_that_is_none_is_said_to_be_none() -> None:
    master, slave = pty.open_pty(Size(80, 24))

    with pytest.raises(CannotStart):
        spawn.start_leader(spawn.Leader(("true",), "/no/such/folder", {}), slave)
    os.close(master)
    os.close(slave)


def test_the_kernel_says_how_somebody_elses_child_ended() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    pidfd = os.pidfd_open(pid)
    os.waitpid(pid, 0)

    assert processes.exit_of(pidfd) in (7, None)  # None before Linux 6.15
    os.close(pidfd)


def test_how_a_process_ended_is_known_before_anybody_collects_it() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(9)
    pidfd = os.pidfd_open(pid)
    select.select([pidfd], [], [], 5)

    assert processes.exit_of_zombie(pid) == 9
    os.waitpid(pid, 0)
    assert processes.exit_of_zombie(pid) is None
    assert processes.exit_of_zombie(os.getpid()) is None
    os.close(pidfd)


def test_every_process_of_a_session_is_killed_and_no_other() -> None:
    master, slave = pty.open_pty(Size(80, 24))
    shell = ("/bin/sh", "-c", "trap '' TERM; sleep 60 & sleep 60 & wait")
    pid = spawn.start_leader(
        spawn.Leader(shell, "/", {"PATH": os.environ["PATH"]}), slave
    )
    os.close(slave)
    time.sleep(0.1)

    assert processes.kill_session(pid) >= 1
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    os.close(master)
