"""With the example policy an agent works, and nobody is asked; nor reads it keys."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.agent_day import shell as day_shell
from bench.day import EXAMPLE, World, world
from tests.scenarios.agents import WHY, Agent, agent
from tests.scenarios.support import Machine, apply_policy, machine

import holdfast

SOON = {"approval_timeout": 0.3}
"""Nobody approves anything here."""


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(is_hostile=True) as where:
        monkeypatch.setenv("HOME", where.home)
        yield where


@pytest.fixture
def here(project: World) -> Iterator[Machine]:
    with machine() as made:
        apply_policy(EXAMPLE.read_text())
        day_shell(made, project)
        yield made


async def ran(bot: Agent, line: str, within: float = 30.0) -> dict[str, object]:
    return await bot.call(
        "run", session="agent-1", intent=WHY, command=line, timeout=within, **SOON
    )


@pytest.mark.usefixtures("here")
def test_ordinary_work_is_decided_without_a_person(project: World) -> None:
    async def story() -> None:
        async with agent() as bot:
            listed = await ran(bot, "for f in src/app/*.py; do wc -l $f; done")
            home = await ran(bot, "echo $HOME")
            copied = await ran(bot, "cat a > b")
            tested = await ran(bot, f"cd {project.cwd} && make test")
        assert [one["status"] for one in (listed, home, copied, tested)] == [0] * 4
        assert str(home["output"]["text"]).strip() == project.home  # type: ignore[index]

    asyncio.run(story())
    assert (Path(project.cwd) / "b").read_text() == "one\ntwo\n"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("tool", "more"), [("signal", {}), ("keys", {"keys": ["C-c"]})]
)
def test_what_it_started_it_stops(tool: str, more: dict[str, object]) -> None:
    async def story() -> None:
        async with agent() as bot:
            went_on = await ran(bot, "sleep 1000", within=0.5)
            await bot.call(tool, session="agent-1", intent=WHY, **SOON, **more)
            await bot.call("wait", session="agent-1", condition="prompt", timeout=20)
            after = await ran(bot, "echo on")
        assert went_on["goes_on"]
        assert after["status"] == 0

    asyncio.run(story())


@pytest.mark.usefixtures("here")
def test_keys_and_start_up_files_are_out_of_its_reach(project: World) -> None:
    before = {
        path: path.read_bytes()
        for path in Path(project.home).rglob(".*")
        if path.is_file()
    }
    lines = [
        "cat ~/.ssh/id_ed25519",
        "cat link-to-config/policy.toml",
        "cd ~/.ssh && cat id_ed25519",
        "cat *",
        "sort -o ~/.bashrc a",
        f"sort --outp={project.home}/.bashrc a",
        "cat a > ../../.bashrc",
        "cp a link-to-config/policy.toml",
        "git -c core.pager=./evil log",
        "holdfast approve agent-1",
    ]

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            for line in lines:
                error = await bot.refused(
                    "run", session="agent-1", intent=WHY, command=line, **SOON
                )
                assert error["code"] in ("approval-timeout", "denied-by-policy"), line
            assert await host.attach("agent-1").pending() == ()

    asyncio.run(story())
    assert {path: path.read_bytes() for path in before} == before
    assert os.listdir(project.home)  # noqa: PTH208  # it is all there


@pytest.mark.usefixtures("here")
def test_a_line_that_makes_a_link_is_asked_about(project: World) -> None:
    settings = Path(project.home) / ".bashrc"
    lines = [
        "ln -s .bashrc ~/rc && echo evil > ~/rc",
        "ln -s .bashrc ~/rc; echo evil | tee ~/rc",
        "for i in 1 2; do echo evil >> ~/rc; ln -sf .bashrc ~/rc; done",
    ]

    async def story() -> None:
        async with agent() as bot:
            for line in lines:
                error = await bot.refused(
                    "run", session="agent-1", intent=WHY, command=line, **SOON
                )
                assert error["code"] == "approval-timeout", line
            made = await ran(bot, "ln -s .bashrc ~/rc")
            followed = await bot.refused(
                "run", session="agent-1", intent=WHY, command="cat a > ~/rc", **SOON
            )
        assert made["status"] == 0
        assert followed["code"] == "approval-timeout"

    asyncio.run(story())
    assert settings.read_bytes() == b""
