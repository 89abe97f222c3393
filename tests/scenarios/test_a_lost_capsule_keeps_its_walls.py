"""A capsule that was lost comes back as one, and never without its walls."""

import os
import signal
from pathlib import Path

import pytest
from tests.scenarios.capsules import Account, account, as_each
from tests.scenarios.support import eventually


def lose(here: Account) -> None:
    """Kill everything of ours at once, as a machine that stops does."""
    for pid in here.ours():
        os.kill(pid, signal.SIGSTOP)
    for pid in here.ours():
        os.kill(pid, signal.SIGKILL)


@as_each
@pytest.mark.parametrize("net", ["host", "own"])
def test_a_lost_capsule_is_recovered_in_a_capsule(user: int, net: str) -> None:
    with account(user) as here:
        here.new("box", "--capsule", "--net", net)
        leader = here.facts("box")["pid"]
        lose(here)
        end = Path(f"/proc/{leader}")
        eventually("its end with its lifeline", lambda: not end.exists() or None)

        here.ask("recover", "-d", "box")

        again = here.facts("box")
        assert (again["runtime"], again["incarnation"]) == ("capsule", 2)
        theirs, ours = Path(f"/proc/{again['pid']}/ns"), Path("/proc/self/ns")
        assert (theirs / "pid").readlink() != (ours / "pid").readlink()
        has_own = (theirs / "net").readlink() != (ours / "net").readlink()
        assert has_own is (net == "own")
        assert not here.run("box", f"ls -A {here.place}/config", status=None).strip()
