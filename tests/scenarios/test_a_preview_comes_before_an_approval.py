"""What the policy wants previewed is tried out, and then waits with what it did."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import stdio_client
from tests.scenarios.agents import Agent, plainly
from tests.scenarios.capsules import HOLDFAST, Account, account, as_each

from holdfast.linux.criu import program
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

POLICY = """
[[rule]]
name = "try"
verdict = "preview"
input = ["command", "keys"]

[[rule]]
name = "begin"
verdict = "allow"
input = "start"
"""
"""Of everybody, so of the one who tries it out, too."""

PATIENCE = 60


def governed(here: Account, text: str = POLICY) -> None:
    config = here.place / "config"
    config.mkdir(mode=0o700, exist_ok=True)
    (config / "policy.toml").write_text(text)
    if here.user != os.getuid():
        for one in (config, config / "policy.toml"):
            os.chown(one, here.user, here.user)
    here.ask("gate", "apply", "--yes")


@contextlib.contextmanager
def asking(here: Account, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """Have an agent do something that has to be approved."""
    with subprocess.Popen(
        [HOLDFAST, "--as", "bot", *words],
        env=here.variables,
        cwd=here.place / "home",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **here.identity,
    ) as asker:
        try:
            yield asker
        finally:
            asker.kill()


def until(what: Callable[[], Any]) -> Any:  # noqa: ANN401  # what it finds
    deadline = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def waiting(here: Account) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        here.ask("gate", "pending", "box", "--json")
    )["pending"]
    return found


def names(here: Account) -> list[str]:
    return [one["name"] for one in json.loads(here.ask("ls", "--json"))["sessions"]]


def entries(here: Account, kind: str) -> list[dict[str, Any]]:
    told = map(json.loads, here.ask("log", "box", "--json").splitlines())
    return [one for one in told if one["kind"] == kind]


@as_each
def test_the_approver_sees_what_it_did_and_then_it_is_done(user: int) -> None:
    with account(user) as here:
        made = here.place / "home" / "made"
        here.new("box", "--capsule")
        governed(here)

        with asking(here, "run", "box", "--", "echo new >made; echo said") as bot:
            (pending,) = until(lambda: waiting(here))

            assert not made.exists()
            told = pending["preview"]
            assert (told["ran"], told["exit"], told["files"]) == (True, 0, 1)
            assert "made (4 bytes)" in told["text"]
            assert names(here) == ["box"]
            shown = here.ask("approve", "box", "--yes")
            assert "preview  exit 0 after" in shown
            said, _ = bot.communicate(timeout=PATIENCE)

        assert said.endswith("said\n")
        assert made.read_text() == "new\n"
        (asked,) = entries(here, "asked")
        assert asked["preview"] == told["digest"]
        assert entries(here, "input")[-1]["verdict"] == "preview"


def test_where_nothing_can_be_tried_out_it_is_asked_about_all_the_same() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--plain")
        governed(here)

        with asking(here, "run", "box", "--", "touch made"):
            (pending,) = until(lambda: waiting(here))

            assert pending["preview"]["ran"] is False
            assert pending["preview"]["text"] == "not previewed: it is not in a capsule"
            here.ask("deny", "box", "--yes")

        assert not (here.place / "home" / "made").exists()


def test_keys_that_are_no_whole_line_are_asked_about_without_a_preview() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        governed(here)

        with asking(here, "send", "box", "tou"):
            (pending,) = until(lambda: waiting(here))

            assert "not a complete line" in pending["preview"]["text"]


def test_a_seize_ends_a_preview_and_nothing_of_it_is_left() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        governed(here)

        with asking(here, "run", "box", "--", "sleep 50; touch made") as bot:
            until(lambda: len(names(here)) == 2)
            here.ask("seize", "box")
            said, _ = bot.communicate(timeout=PATIENCE)

        assert "seized" in said or "turn" in said
        until(lambda: names(here) == ["box"])
        assert waiting(here) == []
        assert not (here.place / "home" / "made").exists()


def test_an_agent_is_told_by_mcp_what_its_command_did() -> None:
    async def story(here: Account, server: StdioServerParameters) -> None:
        async with plainly(), Client(stdio_client(server), cache=None) as client:
            bot = Agent(client)
            await bot.call("attach", session="box")
            running = bot.begin(
                "run", session="box", command="echo x >made", intent="to see it"
            )
            pending: list[dict[str, Any]] = []
            while not pending and not running.done():
                await asyncio.sleep(0.1)
                pending = await asyncio.to_thread(waiting, here)
            assert pending[0]["preview"]["files"] == 1
            seen = await bot.call("who", session="box")
            told = seen["waiting_for_approval"][0]["preview"]
            assert (told["exit"], told["files"]) == (0, 1)
            assert "made" in told["told"]
            await asyncio.to_thread(here.ask, "approve", "box", "--yes")
            assert (await running)["status"] == 0

    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        governed(here)
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "holdfast", "mcp"],
            env={**here.variables, "PYTHONPATH": str(Path("src").resolve())},
        )
        asyncio.run(story(here, server))
        assert (here.place / "home" / "made").exists()


TRIAL = """
import sys
from holdfast.client import branches, keeper
print(branches.fork(keeper.find("box"), "trial", trial=True).made.id)
"""


def test_what_is_let_happen_in_a_trial_never_becomes_the_session() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        subprocess.run(
            [sys.executable, "-c", TRIAL],
            env={**here.variables, "PYTHONPATH": str(Path("src").resolve())},
            check=True,
        )
        governed(here)

        assert here.run("trial", "echo free >made; cat made") == "free\n"
        said = here.ask("fork", "--promote", "--force", "trial", status=77)

        assert "cannot be promoted" in said
        assert not (here.place / "home" / "made").exists()
        assert sorted(names(here)) == ["box", "trial"]
        here.ask("fork", "--discard", "--force", "trial")
