"""How many links and questions an agent's calls cost."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.support import agent, told
from tests.scenarios.agents import WHY, shell, until
from tests.scenarios.support import Machine, machine

from holdfast.aio.holder_link import Stream
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Request, packet_of
from holdfast.sdk.near_route import Near

ON: dict[str, object] = {"session": "build", "intent": WHY}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.chdir(tmp_path)
    with machine() as made:
        yield made


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the links to holders, and what keepers are asked, as they happen."""
    found: Counter[str] = Counter()
    dial, ask = Near.dial, Near.ask

    async def dialed(way: Near, session: SessionId) -> Stream:
        found["link"] += 1
        return await dial(way, session)

    async def asked(way: Near, request: Request) -> Facts:
        found[str(packet_of(request)["do"])] += 1
        return await ask(way, request)

    monkeypatch.setattr(Near, "dial", dialed)
    monkeypatch.setattr(Near, "ask", asked)
    return found


def test_commands_of_an_agent_share_one_link_and_ask_for_no_list(
    here: Machine, counts: Counter[str]
) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            for number in range(5):
                ran = await bot.call("run", command=f"echo {number}", **ON)
                assert (ran["status"], ran["output"]["text"].strip()) == (
                    0,
                    f"{number}",
                )
            once = await bot.call("run", command="echo once", key="k", **ON)
            assert once["status"] == 0
            assert await bot.call("who", session="build")

    told(story)
    assert counts == {"link": 1, "list": 1}


def test_a_command_that_has_run_before_is_read_again_on_a_link_of_its_own(
    here: Machine, counts: Counter[str]
) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            first = await bot.call("run", command="echo $RANDOM", key="k", **ON)
            await bot.call("run", command="true", **ON)
            again = await bot.call("run", command="echo $RANDOM", key="k", **ON)
            assert again["output"] == first["output"]

    told(story)
    assert counts == {"link": 2, "list": 1}


def test_a_session_that_got_another_name_is_not_found_by_the_old_one(
    here: Machine,
) -> None:
    first = shell(here)

    async def story() -> None:
        async with agent() as bot:
            assert (await bot.call("attach", session="build"))["id"] == first
            assert here.ask(do="rename", id=first, name="old")["ok"]

            async def is_gone() -> bool:
                return "error" in await bot.tried("who", session="build")

            assert await until(is_gone)
            second = shell(here)
            assert (await bot.call("attach", session="build"))["id"] == second

    told(story)
