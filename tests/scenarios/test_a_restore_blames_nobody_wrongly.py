"""After a restore it is still true who started what, and who changed what."""

import json
import os

import pytest
from tests.scenarios.capsules import Account, account, as_each

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


def starters(here: Account) -> dict[str, str]:
    """Return who started each `sleep` of the session."""
    found = json.loads(here.ask("graph", "box", "--json"))
    return {
        one["command"]: one["actor"]
        for one in found["processes"]
        if one["command"].startswith("sleep 6")
    }


@as_each
def test_who_started_a_process_is_known_after_its_restore(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "sleep 600 & x=1")
        before = starters(here)
        here.ask("checkpoint", "box", "--stop")

        here.ask("restore", "-d", "box")

        assert before["sleep 600"]
        assert starters(here) == before
        for pid in here.ours():  # A successor knows it, too.
            if b"nursery" in _words(pid):
                os.kill(pid, 9)
        assert starters(here) == before


def _words(pid: int) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123  # no path of ours
        return file.read()


@as_each
def test_what_a_roll_back_undid_is_said_and_blamed_on_nobody(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "V=one")
        here.run("box", "W=one")
        here.ask("checkpoint", "box")
        here.run("box", "V=two")
        here.ask("end", "box")

        here.ask("restore", "-d", "box")

        assert here.run("box", "echo $V") == "one\n"
        here.run("box", "X=new")
        blamed = {one: _behind(here, one) for one in "VWX"}
        assert (blamed["V"], blamed["X"]) == (0, 5)
        assert blamed["W"] == 2
        story = here.ask("log", "box")
        lines = [line for line in story.splitlines() if "V=two" in line]
        assert all(line.endswith("(undone)") for line in lines)
        (one,) = [line for line in story.splitlines() if "W=one" in line][:1]
        assert "(undone)" not in one


def _behind(here: Account, name: str) -> int:
    """Return the command that blame names for a variable; 0 if it names none."""
    said = here.ask("blame", "box", "--var", name, "--json", status=None)
    origin = json.loads(said)["origin"]
    return 0 if origin is None else int(origin["command"])
