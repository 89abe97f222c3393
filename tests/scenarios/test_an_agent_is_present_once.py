"""An agent that works in a session is attached once, for as long as it works there."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.scenarios.agents import FREE, SOURCE, WHY, agent, shell, until
from tests.scenarios.gated import write_policy
from tests.scenarios.shells import wait_phase
from tests.scenarios.support import Machine, eventually, machine

import holdfast
from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.mcp.reach import MAX_KEPT, Reach
from holdfast.model.errors import SessionNotFound
from holdfast.model.ids import SessionId
from holdfast.sdk.session import Session
from holdfast.wire.messages import End

HASTE = 1.0
"""Seconds without a call after which a session is left, for those who cannot wait."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def presence(session: SessionId) -> list[tuple[EntryKind, str]]:
    """Return who came and went, by the logbook."""
    return [
        (one.kind, str(one.fields["actor"]))
        for one in book(session)
        if one.kind in (EntryKind.ATTACHED, EntryKind.DETACHED)
    ]


def book(session: SessionId) -> list[Entry]:
    return [*recover(places.session_log(session).read_bytes(), session).entries]


def test_whatever_an_agent_does_the_book_says_once_that_it_came_and_that_it_left(
    here: Machine,
) -> None:
    session = shell(here)

    async def story() -> None:
        async with agent() as bot:
            on = {"session": "build"}
            await bot.call("attach", **on)
            await bot.call("run", **on, command="echo one", intent=WHY)
            await bot.call("run", **on, command="echo two", intent=WHY, key="two")
            await bot.call("read", **on, max_bytes=100)
            await bot.call("ask_turn", **on, intent=WHY)
            await bot.call("send", **on, text="echo three", enter=True, intent=WHY)
            await bot.call("wait", **on, condition="output", pattern="three")
            await bot.refused("wait", **on, condition="secret", timeout=0.1)
            await bot.call("wait", **on, condition="quiet", seconds=0.1)
            await bot.call("drop_turn", **on)
            waiting = bot.begin("wait", **on, condition="input")
            await bot.call("state", **on)
            waiting.cancel()
            told = await bot.call("who", **on)

            assert [one["name"] for one in told["attached"]] == ["mcp-agent"]

    asyncio.run(story())
    eventually("it has left", lambda: presence(session)[1:])
    (came, us), (left, same) = presence(session)
    assert (came, left) == (EntryKind.ATTACHED, EntryKind.DETACHED)
    assert us == same


def test_another_program_of_the_same_operator_is_on_record(here: Machine) -> None:
    session = shell(here)
    wait_phase(session, "prompt")

    async def story() -> None:
        async with holdfast.connect() as host, host.attach("build"):
            await _ran("run", "build", "true")

    asyncio.run(story())
    eventually("all have left", lambda: len(presence(session)) == 4)
    kinds = [kind for kind, _ in presence(session)]
    assert kinds.count(EntryKind.ATTACHED) == kinds.count(EntryKind.DETACHED) == 2


def test_calls_that_come_at_once_share_one_attachment(here: Machine) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            await asyncio.gather(
                *(bot.call("state", session="build") for _ in range(8))
            )
            present = (await host.attach("build").who()).present

        assert [one.program for one in present if one.name == "mcp-agent"] == ["mcp"]

    asyncio.run(story())


def test_a_session_in_which_nothing_is_done_is_left_and_entered_again(
    here: Machine,
) -> None:
    session = shell(here)

    async def story() -> None:
        async with Reach("bot", idle=HASTE) as reach:
            first = await reach.session("build")
            await first.take()
            await until(lambda: _holds(reach, 0))
            again = await reach.session("build")
            reach.begin_call(session)
            standing = await again.who()

            assert [one.name for one in standing.present] == ["bot"]
            assert standing.has_turn  # It outlives the link by its grace.
            assert reach.kept == (session,)

    asyncio.run(story())


def test_a_session_is_not_left_while_a_call_is_about_it(here: Machine) -> None:
    session = shell(here)

    async def story() -> None:
        async with Reach("bot", idle=HASTE) as reach:
            held = await reach.session("build")
            reach.begin_call(session)
            with pytest.raises(holdfast.errors.WaitedInVain):
                await held.wait_secret(2 * HASTE)
            assert reach.kept == (session,)
            reach.end_call(session)
            await until(lambda: _holds(reach, 0))

    asyncio.run(story())


def test_of_many_sessions_those_used_last_are_kept(here: Machine) -> None:
    write_policy(FREE)
    made = [here.new("cat") for _ in range(MAX_KEPT + 2)]

    async def story() -> None:
        async with Reach("bot") as reach:
            for session in made:
                await reach.session(session)

            assert reach.kept == tuple(made[2:])

    asyncio.run(story())


def test_a_holder_that_is_replaced_leaves_no_stale_state(here: Machine) -> None:
    session = shell(here)

    async def story() -> None:
        async with agent() as bot:
            on = {"session": "build"}
            await bot.call("run", **on, command="true", intent=WHY)
            await bot.call("take_turn", **on)
            await asyncio.to_thread(here.replace_holder, session)
            ran = await bot.call("run", **on, command="echo $((6 * 7))", intent=WHY)
            told = await bot.call("who", **on)

        assert ran["output"]["text"] == "42\n"
        assert told["turn_is_yours"]
        assert len(told["attached"]) == 1

    asyncio.run(story())


def test_a_session_that_ends_is_let_go_of_and_still_told_of(here: Machine) -> None:
    session = shell(here)

    async def story() -> None:
        async with Reach("bot") as reach:
            live = await reach.session("build")
            await live.run("echo last words")
            here.join(session).send(End(9, leave=False))
            # The keeper knows it a moment before whoever is attached is told.
            await until(lambda: _has_heard_the_end(live))
            ended = await reach.session("build")
            assert reach.kept == ()
            assert EntryKind.EXITED in {one.kind for one in await ended.log()}
            here.ask(do="forget", id=session)
            with pytest.raises(SessionNotFound):
                await reach.session("build")

    asyncio.run(story())


async def _holds(reach: Reach, count: int) -> bool:
    return len(reach.kept) == count


async def _has_heard_the_end(session: Session) -> bool:
    return not session.is_attached


async def _ran(*words: str) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "holdfast", *words],
        env={**os.environ, "PYTHONPATH": SOURCE},
        check=False,
    )
    assert done.returncode == 0
