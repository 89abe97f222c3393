"""What keeps a session from being dumped is told before anything is stopped."""

import json
from typing import Any

from tests.scenarios.capsules import Account, account, as_each

HOLDS_TERMINAL = "python3 -c 'import time; f = open(\"/dev/tty\"); time.sleep(600)'"


def told(here: Account, *, status: int) -> dict[str, Any]:
    said = here.ask("can-checkpoint", "box", "--json", status=status)
    found: dict[str, Any] = json.loads(said)
    return found


@as_each
def test_an_idle_shell_with_jobs_could_be_dumped(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "sleep 600 & sleep 600 | cat &")

        assert told(here, status=0)["blockers"] == []
        assert here.ask("can-checkpoint", "box") == "yes\n"


@as_each
def test_in_a_network_of_its_own_too(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", "--net", "own")
        assert told(here, status=0)["can"] is True


@as_each
def test_a_program_that_holds_its_terminal_is_named(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", f"{HOLDS_TERMINAL} & sleep 0.5")

        (found,) = told(here, status=1)["blockers"]

        assert (found["kind"], found["program"]) == ("terminal", "python3")
        assert here.run("box", "echo $!") == f"{found['pid']}\n"
        here.run("box", "kill %1; wait")
        assert told(here, status=0)["can"] is True


@as_each
def test_a_frozen_session_is_said_to_be_frozen(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.ask("freeze", "box")
        kinds = [one["kind"] for one in told(here, status=1)["blockers"]]
        assert kinds == ["frozen"]


@as_each
def test_a_plain_session_is_told_what_it_lacks(user: int) -> None:
    with account(user) as here:
        here.new("box")
        (found,) = told(here, status=1)["blockers"]
        assert (found["kind"], found["pid"]) == ("no-capsule", 0)
        assert "new --capsule" in found["remedy"]
