"""A host that goes down puts to disk what it can, and says what it could not."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account
from tests.scenarios.support import eventually


@pytest.fixture
def here() -> Iterator[Account]:
    with account(os.getuid()) as made:
        (made.place / "config").mkdir(mode=0o700)
        yield made


def settle(here: Account, text: str) -> None:
    (here.place / "config" / "config.toml").write_text(text)


def capsule(here: Account, name: str, *words: str) -> str:
    made = here.new(name, "--capsule", *words)
    if not here.ask("can-checkpoint", name, status=None).startswith("yes"):
        pytest.skip("no checkpoint can be made here")
    return made


def host_pid(here: Account) -> int:
    return int(json.loads(here.ask("status", "--json"))["host"]["pid"])


def images(here: Account) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(here.ask("images", "--json"))["images"]
    return found


def test_capsules_go_to_disk_and_come_back_and_the_rest_is_named(
    here: Account,
) -> None:
    here.ask("up", "--detach")
    first = capsule(here, "first")
    second = capsule(here, "second")
    here.new("plain")
    here.run("first", "memory=one")
    watching = subprocess.Popen(
        [HOLDFAST, "watch", "--json", "plain"],
        env=here.variables,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    seen = json.loads(watching.stdout.readline())
    assert seen["event"] == "session.seen"
    eventually("it watches", lambda: "(2)" in here.ask("ls"))

    told = json.loads(here.ask("drain", "--deadline", "60s", "--json", status=1))

    assert {one["id"] for one in told["left"]} == {first, second}
    (stayed,) = told["stayed"]
    assert stayed["name"] == "plain"
    assert stayed["why"] == "it is not in a capsule"
    event = json.loads(watching.stdout.readline())
    while event["event"] != "host.draining":
        event = json.loads(watching.stdout.readline())
    watching.kill()
    watching.communicate()
    assert "drain" in here.ask("log", "plain") or here.facts("plain")

    said = here.ask("restore", "--all")

    assert "first goes on (incarnation 2)" in said
    assert here.run("first", "echo $memory").strip() == "one"
    assert here.facts("second")["incarnation"] == 2
    assert "No session is on disk alone." in here.ask("restore", "--all")


def test_a_deadline_that_is_over_leaves_sessions_running(here: Account) -> None:
    here.ask("up", "--detach")
    capsule(here, "box")
    # Nothing can be put to disk while it is frozen.
    here.ask("freeze", "box")

    told = json.loads(here.ask("drain", "--deadline", "1s", "--json", status=1))

    assert [one["why"] for one in told["stayed"]] == ["it is frozen"]
    here.ask("thaw", "box")
    assert here.run("box", "echo on").strip() == "on"


def test_a_host_that_is_told_to_end_drains_first_if_it_is_to(here: Account) -> None:
    settle(here, '[drain]\nat-end = true\ndeadline = "60s"\n')
    here.ask("up", "--detach")
    capsule(here, "box")
    pid = host_pid(here)

    os.kill(pid, signal.SIGTERM)

    eventually("the host has ended", lambda: not Path(f"/proc/{pid}").exists())
    assert "stopped" in here.ask("ls", "--all")
    here.ask("restore", "--all")
    assert here.run("box", "echo on").strip() == "on"


def test_a_host_ends_without_a_drain_unless_it_is_to(here: Account) -> None:
    here.ask("up", "--detach")
    capsule(here, "box")
    pid = host_pid(here)

    os.kill(pid, signal.SIGTERM)

    eventually("the host has ended", lambda: not Path(f"/proc/{pid}").exists())
    assert here.run("box", "echo on").strip() == "on"


def test_a_signal_drains_a_host_that_goes_on(here: Account) -> None:
    here.ask("up", "--detach")
    capsule(here, "box")
    pid = host_pid(here)

    os.kill(pid, signal.SIGUSR1)

    eventually("it is on disk", lambda: "stopped" in here.ask("ls", "--all"))
    assert host_pid(here) == pid


def test_images_are_made_while_something_happens(here: Account) -> None:
    settle(here, "[images]\nkeep = 2\n")
    here.ask("up", "--detach")
    capsule(here, "box", "--checkpoint-every", "10s")
    capsule(here, "other")
    eventually("the first is made", lambda: images(here))
    eventually("it is listed", lambda: "old" in here.ask("ls"))
    here.ask("checkpoint", "box", "--label", "mine")

    here.run("box", "echo something")
    eventually("another is made", lambda: len(images(here)) >= 3)

    made = images(here)
    assert {one["session"] for one in made} == {here.facts("box")["id"]}
    assert "mine" in [one["label"] for one in made]
    assert "checkpoints" in here.ask("log", "box")
