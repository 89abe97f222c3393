"""A session in a capsule is a session like any other."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from tests.scenarios.capsules import account, as_each, inside, space_of

from holdfast.linux import spawn

CHANGES = 10.0
"""Seconds for something to come about."""


def await_that(what: object) -> None:
    """Wait until a question is answered with yes."""
    assert callable(what)
    deadline = time.monotonic() + CHANGES
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@as_each
def test_commands_states_and_processes_are_told(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")

        assert here.run("box", "tty; echo $((6 * 7))") == "/dev/pts/0\n42\n"
        assert here.run("box", "sh -c 'exit 3'", status=3) == ""
        here.run("box", "sleep 600 &")
        assert here.ask("state", "box").startswith("at-prompt")
        graph = here.ask("graph", "box")

        assert re.findall(r"\d+ (\S+)", graph)[:2] == ["/bin/bash", "sleep"]
        assert len(graph.splitlines()) == 2
        assert here.facts("box")["runtime"] == "capsule"
        assert json.loads(here.ask("state", "box", "--json"))["runtime"] == "capsule"


@as_each
def test_a_plain_session_is_told_to_be_one(user: int) -> None:
    with account(user) as here:
        here.new("box")

        assert here.facts("box")["runtime"] == "plain"


@as_each
def test_how_its_command_ended_is_known_and_nothing_is_left(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", "--", "sh", "-c", "read line; exit 5")
        space = space_of(here.facts("box")["pid"])
        assert len(inside(space)) == 4

        here.ask("send", "box", "--enter", "")
        await_that(lambda: here.facts("box")["exit"] == 5)

        await_that(lambda: not inside(space))


@as_each
def test_the_death_of_its_holder_is_not_noticed(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "word=kept")
        pid = here.facts("box")["pid"]
        holder = int(Path(f"/proc/{pid}/stat").read_text().split()[3])
        while holder not in here.ours():
            holder = int(Path(f"/proc/{holder}/stat").read_text().split()[3])

        os.kill(holder, signal.SIGKILL)

        assert here.run("box", "echo $word") == "kept\n"
        assert here.facts("box")["pid"] == pid
        here.run("box", "exit 9", status=None)
        await_that(lambda: here.facts("box")["exit"] == 9)


@as_each
def test_when_all_of_ours_is_killed_nothing_is_left(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run(
            "box", "nohup setsid sh -c 'trap \"\" HUP TERM; sleep 600' >/dev/null &"
        )
        space = space_of(here.facts("box")["pid"])
        assert len(inside(space)) >= 6

        # Each is replaced by the others, so they go together.
        ours = here.ours()
        for pid in ours:
            os.kill(pid, signal.SIGSTOP)
        for pid in ours:
            os.kill(pid, signal.SIGKILL)

        await_that(lambda: not inside(space))


@as_each
def test_its_end_leaves_nothing(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "env -i setsid sh -c 'trap \"\" HUP TERM; sleep 600' &")
        space = space_of(here.facts("box")["pid"])

        here.ask("end", "box")

        await_that(lambda: not inside(space))


@as_each
def test_a_freeze_stops_all_of_it_and_a_thaw_lets_it_go_on(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "env -i setsid sh -c 'while :; do echo >>ticks; done' &")
        ticks = here.place / "home/ticks"
        await_that(ticks.exists)

        here.ask("freeze", "box")
        frozen = ticks.stat().st_size
        time.sleep(0.2)
        assert ticks.stat().st_size == frozen
        here.ask("thaw", "box")

        await_that(lambda: ticks.stat().st_size > frozen)


@as_each
@pytest.mark.parametrize("gate", [(), ("--exec-gate",)])
def test_it_lives_on_without_a_keeper_and_wakes(
    user: int, gate: tuple[str, ...]
) -> None:
    with account(user) as here:
        here.new("box", "--capsule", *gate)
        here.run("box", "word=kept")
        # What has an exec gate is always held.
        await_that(lambda: gate or here.facts("box")["dozing"])

        here.ask("down")

        assert here.run("box", "echo $word; tty") == "kept\n/dev/pts/0\n"


@as_each
def test_a_command_that_waits_for_approval_waits_in_its_capsule(user: int) -> None:
    with account(user) as here:
        here.new("first")
        policy = here.place / "config/policy.toml"
        policy.write_text('[default]\nhuman = "ask"\n')
        policy.chmod(0o600)
        os.chown(policy, user, user)
        here.ask("gate", "apply", "--yes")
        words = ("--capsule", "--exec-gate", "--timeout", "1")
        said = here.ask("new", "-d", "-n", "box", *words, status=75)

        assert "waiting for approval of cd" in said
        await_that(lambda: here.facts("box")["exit"] == spawn.REFUSED)


@as_each
def test_who_belongs_is_known_by_the_capsule_and_not_by_a_variable(user: int) -> None:
    with account(user) as here:
        plain = here.new("plain")
        here.new("box", "--capsule")
        here.run("box", f"HOLDFAST_SESSION={plain} setsid sleep 600 &")
        here.run("box", "env -i setsid sleep 601 &")

        assert "sleep 60" not in here.ask("graph", "plain")
        assert "sleep 600" in here.ask("graph", "box")
        assert "sleep 601" in here.ask("graph", "box")

        here.ask("end", "plain")
        assert "sleep 600" in here.ask("graph", "box")


@as_each
def test_every_exec_in_it_can_be_judged(user: int) -> None:
    with account(user) as here:
        here.new("first")
        policy = here.place / "config/policy.toml"
        policy.write_text(
            '[default]\nhuman = "allow"\n[[rule]]\nname = "no-id"\n'
            'verdict = "deny"\nat = "exec"\nfirst = ["id"]\n'
        )
        policy.chmod(0o600)
        os.chown(policy, user, user)
        here.ask("gate", "apply", "--yes")
        here.new("box", "--capsule", "--exec-gate")

        refused = here.run("box", "env id -u", status=None)
        assert "not permitted" in refused
        assert f"{user}\n" not in refused
        assert here.run("box", "env uname") == "Linux\n"


@as_each
def test_with_a_network_of_its_own_nothing_outside_is_reached(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", "--net", "own")

        seen = here.run(
            "box", "grep -c : /proc/net/dev; grep -c @ /proc/net/unix", None
        )

        assert seen.split() == ["1", "0"]


@as_each
def test_a_command_that_cannot_be_started_is_said_and_leaves_nothing(user: int) -> None:
    with account(user) as here:
        words = ("new", "-d", "--capsule", "--", "no-such-command")

        assert "cannot start 'no-such-command'" in here.ask(*words, status=None)
        assert "No sessions" in here.ask("ls")
