"""A session in a capsule uses no more of the machine than it may."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.capsules import HOLDFAST, NOBODY, Account, account

from holdfast.linux import limits
from holdfast.linux.criu import program
from holdfast.model.limits import Limits

pytestmark = pytest.mark.skipif(
    os.getuid() != 0 or bool(limits.why_not()), reason="nothing can be limited here"
)

as_each = pytest.mark.parametrize("user", [0, NOBODY])

LIMITS = ("--memory", "64M", "--cpus", "1.5", "--pids", "40")
BOMB = ":(){ :|:& };:"
HOG = "python3 -c 'x = bytearray(200 << 20)'"


@contextlib.contextmanager
def home(user: int) -> Iterator[Account]:
    """Make an account; that of an ordinary user has cgroups of its own."""
    with contextlib.ExitStack() as left, account(user) as here:
        if user:
            left.enter_context(delegated(user))
        here.new("other", "--plain")
        yield here
        here.ask("down", "--end-sessions", status=None)


@contextlib.contextmanager
def delegated(user: int) -> Iterator[None]:
    """Be in cgroups that a user may divide, with all that is started meanwhile."""
    # Made as the limits of a session are, one level higher.
    made, handles = limits.make(f"given-{os.getpid()}", Limits(1 << 40, 10**6, 10**5))
    before = [Path(one.folder).parent / "cgroup.procs" for one in made]
    for one in made:
        for path in (Path(one.folder), *Path(one.folder).iterdir()):
            os.chown(path, user, user)
    limits.join(handles)
    try:
        yield
    finally:
        for path in before:
            path.write_text("0")
        limits.close(handles)
        until = time.monotonic() + 20
        while any(Path(one.folder).exists() for one in made):
            for one in made:
                for below in Path(one.folder).glob("holdfast-*"):
                    with contextlib.suppress(OSError):
                        below.rmdir()
            limits.remove(made)
            assert time.monotonic() < until


def told(here: Account, name: str, text: str, count: int = 1) -> str:
    """Wait until the logbook tells of something, so many times."""
    until = time.monotonic() + 20
    while (story := here.ask("log", name)).count(text) < count:
        assert time.monotonic() < until, story
        time.sleep(0.1)
    return story


@contextlib.contextmanager
def watched(here: Account, name: str) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Watch a session; what is yielded waits for an event and returns it."""
    output = here.place / "watched"
    with output.open("wb") as file:
        watcher = subprocess.Popen(
            [HOLDFAST, "watch", "--json", name],
            env=here.variables,
            stdout=file,
            **here.identity,
        )

    def heard(event: str) -> dict[str, Any]:
        until = time.monotonic() + 20
        while True:
            whole = output.read_text().rpartition("\n")[0]
            for one in map(json.loads, whole.splitlines()):
                if one["event"] == event:
                    found: dict[str, Any] = one
                    return found
            assert time.monotonic() < until, whole
            time.sleep(0.05)

    try:
        heard("session.seen")
        yield heard
    finally:
        watcher.kill()
        watcher.wait()


def holders(here: Account) -> list[int]:
    """Return who holds the sessions, and where those processes are forked."""
    words = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in here.ours()}
    return [pid for pid, one in words.items() if b"holdfast.holder" in one]


def demand_limits(here: Account) -> None:
    """See that each limit holds, from inside."""
    found = here.facts("box")
    assert (found["memory"], found["millicpus"], found["pids"]) == (64 << 20, 1500, 40)
    assert "Killed" in here.run("box", HOG, status=None)
    seen = here.run("box", "cat /proc/self/cgroup")
    assert seen.count(found["id"]) >= 3, seen


@as_each
def test_a_fork_bomb_stays_in_its_capsule(user: int) -> None:
    with home(user) as here:
        here.new("box", "--capsule", *LIMITS)

        here.ask("send", "box", "--enter", BOMB)

        assert "limit of pids: it could not fork" in told(here, "box", "limit of pids")
        assert here.run("other", "echo still here") == "still here\n"
        assert json.loads(here.ask("ls", "--json"))["sessions"]
        here.ask("end", "box")
        assert here.run("other", "echo still here") == "still here\n"


@as_each
def test_what_needs_more_memory_is_killed_and_told(user: int) -> None:
    with home(user) as here:
        here.new("box", "--capsule", *LIMITS)
        other = here.new("more", "--capsule")

        with watched(here, "box") as heard:
            assert "Killed" in here.run("box", HOG, status=None)
            assert heard("limit.met")["limit"] == "memory"

        # The kernel's log, which names the program, is root's to read.
        who = "a program" if user else "python3"
        told(here, "box", f"limit of memory: {who} was killed")
        assert here.run("box", "echo the shell lives") == "the shell lives\n"
        assert here.run(other, "python3 -c 'x = bytearray(200 << 20); print(1)'")


@as_each
def test_limits_outlive_the_processes_that_hold_the_session(user: int) -> None:
    with home(user) as here:
        here.new("box", "--capsule", *LIMITS)
        here.run("box", "true")
        demand_limits(here)
        told(here, "box", "limit of memory")
        for pid in holders(here):
            os.kill(pid, signal.SIGKILL)

        demand_limits(here)

        # Each is told once, whoever holds the session then.
        story = told(here, "box", "limit of memory", count=2)
        assert story.count("limit of memory") == 2


@as_each
def test_limits_hold_while_it_dozes_and_after_an_upgrade(user: int) -> None:
    with home(user) as here:
        session = here.new("box", "--capsule", *LIMITS)
        here.run("box", "sleep 600 &")
        until = time.monotonic() + 60
        while not here.facts("box")["dozing"]:
            assert time.monotonic() < until
            time.sleep(0.1)
        leader = here.facts("box")["pid"]

        # Nobody holds it now, and what runs in it is still limited.
        groups = Path(f"/proc/{leader}/cgroup").read_text()
        assert groups.count(session) >= 3, groups
        demand_limits(here)
        here.ask("upgrade")

        demand_limits(here)
        told(here, "box", "limit of memory", count=2)


@as_each
def test_limits_hold_after_a_restore_and_a_recovery(user: int) -> None:
    if program.find().program is None:
        pytest.skip("there is no CRIU here: `make criu`")
    with home(user) as here:
        here.new("box", "--capsule", *LIMITS)
        here.run("box", "sleep 600 & x=1")
        here.ask("checkpoint", "box", "--stop")

        here.ask("restore", "-d", "box")

        assert here.run("box", "echo $x; jobs -r | wc -l") == "1\n1\n"
        demand_limits(here)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in here.ours():
                os.kill(pid, number)
        here.ask("recover", "-d", "box")
        assert here.run("box", "echo $x") == "\n"
        demand_limits(here)


@as_each
def test_nothing_inside_changes_a_limit(user: int) -> None:
    with home(user) as here:
        here.new("box", "--capsule", *LIMITS)
        tricks = (
            "for one in $(find /sys/fs/cgroup -name 'holdfast-s_*'); do "
            'for file in "$one"/*.max "$one"/*limit_in_bytes "$one"/*quota_us; do '
            'echo -1 > "$file"; echo max > "$file"; echo 99999 > "$file"; done; '
            'mkdir "$one/x"; rmdir "$one"; done; '
            "for one in /sys/fs/cgroup/*/cgroup.procs; do echo 0 > $one; done; "
            "mount -o remount,rw /sys/fs/cgroup; mount -t cgroup2 none /mnt; "
            "mount -t cgroup -o memory none /mnt; unshare -C true"
        )

        here.run("box", f"({tricks}) 2>/dev/null", status=None)

        demand_limits(here)


def test_who_may_not_limit_is_told_so_and_nothing_starts() -> None:
    with account(NOBODY) as here:
        said = here.ask("new", "-d", "--capsule", "--pids", "50", status=None)

        assert "the session was not started: processes cannot be limited" in said
        assert "Omit --memory, --cpus and --pids" in said
        assert json.loads(here.ask("ls", "--json"))["sessions"] == []


def test_limits_of_the_settings_are_left_out_aloud() -> None:
    with account(NOBODY) as here:
        config = here.place / "config"
        config.mkdir(mode=0o700)
        (config / "config.toml").write_text('memory = "1G"\n')
        for path in (config, config / "config.toml"):
            os.chown(path, NOBODY, NOBODY)

        said = here.ask("new", "-d", "-n", "box", "--capsule")

        assert "limits cannot be set here; ignoring 1G of memory" in said
        assert here.facts("box")["memory"] == 0


def test_a_policy_says_the_most_that_a_session_may_have() -> None:
    with account(0) as here:
        here.new("other", "--plain")
        policy = here.place / "config" / "policy.toml"
        policy.write_text('[limits.human]\nmemory = "128M"\npids = 100\n')
        policy.chmod(0o600)
        here.ask("gate", "apply", "--yes")

        here.new("box", "--capsule")
        refused = here.ask("new", "-d", "--capsule", "--memory", "1G", status=77)
        plain = here.ask("new", "-d", "--plain", status=77)

        assert here.facts("box")["memory"] == 128 << 20
        assert "at most 128M of memory, 100 processes" in refused
        assert "a session without a capsule has no limits" in plain
