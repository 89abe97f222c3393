"""A session with an exec gate is put to disk, and no exec goes round the gate."""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest
from tests.scenarios.capsules import NOBODY, Account, account

from holdfast.linux.criu import program

pytestmark = [
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
    pytest.mark.skipif(os.getuid() != 0, reason="only root can take a filter along"),
]

POLICY = """
[default]
human = "allow"

[[rule]]
name = "no-id"
verdict = "deny"
at = "exec"
first = "id"
"""


def gated(here: Account) -> str:
    """Start a session in which nobody may execute `id`."""
    session = here.new("box", "--capsule", "--exec-gate")
    policy = here.place / "config/policy.toml"
    policy.write_text(POLICY)
    policy.chmod(0o600)
    here.ask("gate", "apply", "--yes")
    held(here)
    return session


def held(here: Account) -> None:
    """See that the gate holds, and lets through what it may."""
    said = here.run("box", "/usr/bin/id; echo =$?; /bin/echo through", status=None)
    assert "uid=" not in said
    assert "through" in said


def test_the_gate_holds_after_a_restore() -> None:
    with account(0) as here:
        gated(here)
        here.run("box", "x=41; sleep 600 &")

        here.ask("checkpoint", "box", "--stop")
        here.ask("restore", "-d", "box")

        held(here)
        assert here.run("box", "echo $x; jobs -r | wc -l") == "41\n1\n"
        shell = here.facts("box")["pid"]
        told = Path(f"/proc/{shell}/status").read_text("ascii")
        assert "Seccomp:\t2" in told
        for pid in here.ours():  # A successor holds it, too.
            with contextlib.suppress(ProcessLookupError):
                if b"nursery" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
        held(here)


def test_the_gate_holds_after_an_image_in_place_and_again_after_two_restores() -> None:
    with account(0) as here:
        gated(here)

        here.ask("checkpoint", "box")
        held(here)
        for _ in range(2):
            here.ask("checkpoint", "box", "--stop")
            here.ask("restore", "-d", "box")
            held(here)


def test_a_program_with_a_filter_of_its_own_is_named() -> None:
    with account(0) as here:
        gated(here)
        script = here.place / "home/filtered.py"
        script.write_text(FILTERED)
        here.run("box", f"exec 9< <(exec python3 {script}); read -u 9 said")

        said = here.ask("can-checkpoint", "box", status=None)

        assert "a process under seccomp" in said
        here.ask("checkpoint", "box", status=64)
        held(here)


FILTERED = """
import ctypes, struct, time
libc = ctypes.CDLL(None)
code = ctypes.create_string_buffer(bytes.fromhex("060000000000ff7f"), 8)
filter = ctypes.create_string_buffer(struct.pack("@HP", 1, ctypes.addressof(code)), 16)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, filter) == 0
print("filtered", flush=True)
time.sleep(600)
"""


def test_nobody_but_root_can_do_it_and_is_told_so() -> None:
    with account(NOBODY) as here:
        here.new("box", "--capsule", "--exec-gate")

        said = json.loads(here.ask("can-checkpoint", "box", "--json", status=None))

        assert "exec-gate" in [one["kind"] for one in said["blockers"]]
        here.ask("checkpoint", "box", status=64)
