"""Lost sessions by the SDK, by MCP, by a relay, and on a terminal that asks."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.agents import FREE, WHY, agent
from tests.scenarios.elsewhere import Place, places, relay
from tests.scenarios.gated import write_policy
from tests.scenarios.losing import (
    a_machine,
    begun,
    has_tail,
    holdfast,
    lose,
    lose_everything,
    lost,
)
from tests.scenarios.starts import ALLOW
from tests.scenarios.support import Machine, eventually

import holdfast as sdk
from holdfast.linux.stored import recovery_places
from holdfast.model.ids import SessionId

__all__ = ["a_machine"]

SCRIPT = ("sh", "-c", "echo printed; exec sleep 600")


def test_a_program_finds_and_recovers_it(here: Machine) -> None:
    session = begun(here, *SCRIPT)
    lose(session)

    async def story() -> None:
        async with sdk.connect() as host:
            [gone] = await host.lost()
            assert (gone.id, gone.label, gone.is_recoverable) == (session, "web", True)
            assert gone.command == SCRIPT
            assert gone.seen_wall > 0
            with pytest.raises(sdk.errors.SessionIsLost):
                await host.find("web")
            with pytest.raises(sdk.errors.SessionNotFound):
                await host.recover("nobody")
            async with await host.recover("web") as found:
                assert found.id == session
                assert "printed" in (await found.screen()).text
            [info] = await host.sessions()
            assert (info.incarnation, info.is_reconstructed) == (2, True)
            assert await host.lost() == []
            with pytest.raises(sdk.errors.NotRecoverable, match="it lives"):
                await host.recover("web")

    asyncio.run(story())


def test_a_program_that_blocks_recovers_it_under_another_name(here: Machine) -> None:
    session = begun(here, *SCRIPT)
    lose(session)

    with sdk.sync.connect() as host:
        [gone] = host.lost()
        found = host.recover(gone, name="shop")

        assert (found.id, found.name) == (session, "shop")


def test_an_agent_recovers_what_it_began_and_nothing_else(here: Machine) -> None:
    write_policy(FREE + ALLOW)
    theirs = begun(here, "sleep", "600", name="theirs")
    eventually("its output is on disk", lambda: has_tail(theirs))

    async def first() -> SessionId:
        async with agent() as bot:
            made = await bot.call(
                "create_session", name="own", command=[*SCRIPT], intent=WHY
            )
            await bot.call("detach", session="own")
            return SessionId(made["id"])

    own = asyncio.run(first())
    lose(own)

    async def second() -> None:
        async with agent() as bot:
            listed = await bot.call("list_sessions")
            assert {one["session"] for one in listed["lost"]} == {"own", "theirs"}
            assert {one["life"] for one in listed["lost"]} == {"lost"}
            unseen = await bot.refused("screen", session="own")
            assert unseen["code"] == "session-is-lost"
            assert "create_session" in unseen["next_step"]
            odd = await bot.refused(
                "create_session", recover="own", command=["sh"], intent=WHY
            )
            assert odd["code"] == "malformed-argument"
            not_its = await bot.refused("create_session", recover="theirs", intent=WHY)
            assert not_its["code"] == "not-allowed"
            made = await bot.call("create_session", recover="own", intent=WHY)
            assert made["id"] == own
            assert "memory" in made["gone"]
            [seen] = (await bot.call("list_sessions"))["sessions"]
            assert (seen["incarnation"], seen["is_reconstructed"]) == (2, True)

    asyncio.run(second())
    assert set(lost()) == {theirs}


# ── by a relay ────────────────────────────────────────────────────────────


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Place, Place, str]]:
    monkeypatch.setenv("HOLDFAST_DOZE_AFTER", "0.2")
    with relay() as between, places() as (home, away):
        home.up(between.url)
        for who, rights in (("anna", "+create"), ("otto", "observe")):
            link = home.invite("--as", who, "--can", rights)
            away.do("--as", who, "join", "-", "--name", "box", said=link)
        yield home, away, between.url


def test_somebody_elsewhere_sees_it_and_recovers_it_by_right(
    joined: tuple[Place, Place, str],
) -> None:
    home, away, url = joined
    session = SessionId(home.new(*SCRIPT))
    with home.inhabited():
        eventually("its output is on disk", lambda: has_tail(session))
        lose_everything()
    home.up(url)

    seen = away.run("--as", "otto", "ls", "--json", "box/")
    [gone] = _lost(away, "anna")
    assert (gone["id"], gone["host"], gone["recoverable"]) == (
        session,
        "box",
        True,
    )
    assert f'"{session}"' in seen.stdout
    assert "lost, " in away.do("--as", "anna", "ls", "box/")
    refused = away.run("--as", "otto", "recover", "--json", "box/web")
    assert refused.returncode == 77
    assert "not-allowed" in refused.stderr
    asked = away.run("--as", "anna", "attach", "box/web")
    assert asked.returncode == 64
    assert "`holdfast recover box/web`" in asked.stderr
    only = away.run("--as", "anna", "recover", "--forget", "box/web")
    assert "only be done on the machine itself" in only.stderr

    done = away.do("--as", "anna", "recover", "--detach", "box/web")

    assert "box/web was started again (incarnation 2)" in done
    assert _lost(away, "anna") == []
    assert "reconstructed" in away.do("--as", "anna", "ls", "box/")
    assert "printed" in away.do("--as", "anna", "screen", "box/web")
    [here] = home.facts("ls")["sessions"]
    assert (here["id"], here["incarnation"]) == (session, 2)
    assert re.search(r"anna.* recovered the session", home.do("log", "web"))


def _lost(away: Place, who: str) -> list[dict[str, object]]:
    found = json.loads(away.do("--as", who, "ls", "--json", "box/"))
    told: list[dict[str, object]] = found["lost"]
    return told


# ── on a terminal ─────────────────────────────────────────────────────────


@pytest.mark.parametrize(("answer", "status"), [("n\r", 64), ("y\r", None)])
def test_attach_asks_on_a_terminal(
    here: Machine, answer: str, status: int | None
) -> None:
    session = begun(here, *SCRIPT)
    lose(session)
    pid, master = pty.fork()
    if pid == 0:
        words = [sys.executable, "-m", "holdfast", "attach", "web"]
        os.execv(sys.executable, words)  # noqa: S606  # on the terminal just made
    assert "Start it again? y/N" in _read_until(master, "y/N: ")

    os.write(master, answer.encode())

    if status is None:
        assert "(incarnation 2)" in _read_until(master, "(incarnation 2)")
        eventually("it lives", lambda: here.facts(session))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    else:
        assert "was lost" in _read_until(master, "holdfast recover")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
        assert session in lost()
    os.close(master)


def _read_until(master: int, text: str) -> str:
    seen = b""
    deadline = time.monotonic() + 20
    while text.encode() not in seen and time.monotonic() < deadline:
        if select.select([master], [], [], 0.2)[0]:
            seen += os.read(master, 65536)
    return seen.decode("utf-8", "replace")


def test_completion_offers_it(here: Machine) -> None:
    session = begun(here, *SCRIPT)
    lose(session)

    assert "web" in holdfast("ls", "--names").stdout.split()
    assert Path(recovery_places.path_of(session, recovery_places.FACTS)).exists()
