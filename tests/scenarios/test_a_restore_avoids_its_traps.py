"""What goes wrong in a naive checkpoint or restore; docs/explanation/traps.md has all.

Each was seen to go wrong once, in a prototype.
"""

import glob
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account, as_each

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


def state(here: Account, wanted: str) -> None:
    until = time.monotonic() + 30
    while json.loads(here.ask("state", "box", "--json"))["state"] != wanted:
        assert time.monotonic() < until, here.ask("state", "box")
        time.sleep(0.05)


@as_each
def test_an_interrupt_ends_the_job_and_not_the_session(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        here.ask("send", "box", "--enter", "sleep 600")
        state(here, "running")
        here.ask("checkpoint", "box", "--stop")
        here.ask("restore", "-d", "box")

        here.ask("send", "box", "\x03")

        state(here, "at-prompt")
        assert here.run("box", "echo $x") == "1\n"


@as_each
def test_a_session_that_was_forgotten_can_be_restored(user: int) -> None:
    with account(user) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=1")
        here.ask("checkpoint", "box")
        here.ask("end", "box")
        assert json.loads(here.ask("ls", "--json"))["sessions"] == []

        here.ask("restore", "-d", f"{session}.1")

        assert here.facts("box")["id"] == session
        assert here.run("box", "echo $x") == "1\n"


@as_each
def test_a_restore_that_fails_costs_no_logbook(user: int) -> None:
    with account(user) as here:
        session = here.new("box", "--capsule")
        here.run("box", "echo before the failure")
        here.ask("checkpoint", "box", "--stop")
        (image,) = here.place.glob(f"**/images/{session}/1")
        (core, *_) = sorted(image.glob("criu/core-*.img"))
        whole = core.read_bytes()
        core.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

        assert "damaged" in here.ask("restore", "-d", "box", status=None)

        assert "echo before the failure" in here.ask("log", session)
        core.write_bytes(whole)
        here.ask("restore", "-d", "box")
        assert here.run("box", "echo alive") == "alive\n"


@as_each
def test_a_frozen_session_is_refused_at_once_and_stays_frozen(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        here.ask("freeze", "box")

        said = here.ask("checkpoint", "box", status=64)

        assert "it is frozen" in said
        assert here.facts("box")["state"] == "frozen"
        here.ask("thaw", "box")
        assert here.run("box", "echo $x") == "1\n"
        here.ask("checkpoint", "box")


@as_each
def test_a_mount_made_inside_is_found_before_anything_stops(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        mounted = "mount -t tmpfs none /mnt && touch /mnt/up && sleep 600"
        here.run("box", f"unshare -Urm sh -c '{mounted}' 2>/dev/null & sleep 1; x=1")

        said = here.ask("checkpoint", "box", "--stop", status=64)

        assert "cannot be saved to disk" in said
        assert "sleep" in said or "sh (" in said
        assert here.run("box", "echo $x $(jobs -r | wc -l)") == "1 1\n"
        here.run("box", "kill %1; wait")
        here.ask("checkpoint", "box", "--stop")
        here.ask("restore", "-d", "box")
        assert here.run("box", "echo $x") == "1\n"


@as_each
def test_of_two_restores_at_the_same_moment_one_is_made(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        made = json.loads(here.ask("checkpoint", "box", "--stop", "--json"))

        both = [
            subprocess.Popen(
                [HOLDFAST, "restore", "-d", made["image"]],
                env=here.variables,
                cwd=here.place / "home",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                **here.identity,
            )
            for _ in range(2)
        ]

        assert sorted(one.wait(60) == 0 for one in both) == [False, True]
        assert here.run("box", "echo $x") == "1\n"
        assert here.facts("box")["incarnation"] == 2


@as_each
def test_a_session_in_a_network_of_its_own_serves_again(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", "--net", "own")
        serve = "python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &"
        here.run("box", f"{serve} sleep 1")
        here.ask("checkpoint", "box", "--stop")

        here.ask("restore", "-d", "box")

        ask = "exec 9<>/dev/tcp/127.0.0.1/8000; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&9"
        assert "200 OK" in here.run("box", f"{ask}; head -1 <&9; exec 9>&-")


@as_each
def test_a_swept_cgroup_is_made_again(user: int) -> None:
    with account(user) as here:
        session = here.new("box", "--capsule")
        here.run("box", "sleep 600 & x=1")
        here.ask("checkpoint", "box", "--stop")
        for pid in here.ours():  # The next nursery sweeps what is empty.
            os.kill(pid, signal.SIGKILL)

        here.ask("restore", "-d", "box")

        here.ask("freeze", "box")
        job = [one for one in _sleeps(here) if one]
        assert job == ["frozen"] if _has_cgroup(session) else job
        here.ask("thaw", "box")
        assert here.run("box", "echo $x $(jobs -r | wc -l)") == "1 1\n"


def _sleeps(here: Account) -> list[str]:
    """Return how the processes of the session stand, without what holds its walls."""
    pid = here.facts("box")["pid"]
    own = Path(f"/proc/{pid}/cgroup").read_text().splitlines()[-1].removeprefix("0::")
    if "holdfast-" in own:
        for one in _in_cgroups(f"{own.removeprefix('/')}/cgroup.events"):
            return ["frozen" if "frozen 1" in Path(one).read_text() else "runs"]
    return ["by signals"]


def _has_cgroup(session: str) -> bool:
    return bool(_in_cgroups(f"holdfast-{session}/cgroup.freeze"))


def _in_cgroups(path: str) -> list[str]:
    # Others come and go meanwhile: `Path.glob` would stumble over one.
    return glob.glob(f"/sys/fs/cgroup/**/{path}", recursive=True)  # noqa: PTH207
