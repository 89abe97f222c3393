import asyncio
from collections.abc import Iterator

import pytest
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Machine, apply_policy
from tests.sdk.support import go, shell

import holdfast
from holdfast import errors
from holdfast.sdk.events import Approved, Denied, Event, TurnAsked, TurnPassed

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "ask-first"
verdict = "ask"
kind = "agent"
first = "date"
"""


@pytest.fixture(autouse=True)
def policy(here: Machine) -> Iterator[None]:
    del here
    write_policy(POLICY)
    yield
    apply_policy("")


def test_a_turn_is_taken_and_dropped_by_the_block() -> None:
    async def story() -> None:
        async with holdfast.connect() as host, await shell(host) as session:
            async with session.turn() as standing:
                assert standing.has_turn
                async with session.turn():
                    pass
                assert (await session.who()).has_turn
            assert (await session.who()).is_free

    go(story())


def test_an_agent_is_refused_asks_and_is_given_the_turn() -> None:
    async def story() -> str:
        async with (
            holdfast.connect() as mine,
            holdfast.connect(operator="bot") as its,
            await shell(mine) as session,
            its.attach(session.id) as agent,
        ):
            await session.take()
            with pytest.raises(errors.NotYourTurn):
                await agent.send("too early")
            with pytest.raises(errors.Forbidden):
                await agent.run("too early")
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(agent.ask(20))
                async for event in session.events():
                    if isinstance(event, TurnAsked):
                        break
                await session.give("bot")
            assert asking.result().has_turn
            output = (await agent.run("echo thanks")).output
            assert (await agent.drop()).is_free
            return output

    assert go(story()) == "thanks\n"


def test_whoever_asks_can_be_refused_and_is_told() -> None:
    async def story() -> None:
        async with (
            holdfast.connect() as mine,
            holdfast.connect(operator="bot") as its,
            await shell(mine) as session,
            its.attach(session.id) as agent,
        ):
            await session.take()
            with pytest.raises(errors.Unavailable):
                await agent.ask(0.05)
            async with asyncio.TaskGroup() as group:
                group.create_task(refused(agent))
                while not (await session.who()).waiting:
                    pass
                await session.refuse("bot")
            with pytest.raises(errors.OperatorNotHere):
                await session.give("nobody-here")
            # By the id, which is nobody else's, as well as by the name.
            await session.give((await agent.who()).us)
            assert (await agent.who()).has_turn

    async def refused(agent: holdfast.Session) -> None:
        with pytest.raises(errors.AskRefused):
            await agent.ask(20)

    go(story())


def test_a_human_seizes_and_the_agent_is_stopped() -> None:
    heard: list[Event] = []

    async def story() -> str:
        async with (
            holdfast.connect() as mine,
            holdfast.connect(operator="bot") as its,
            await shell(mine) as session,
            its.attach(session.id) as agent,
        ):
            await agent.take()
            with pytest.raises(errors.Forbidden):
                await session.send("not mine")
            async with asyncio.TaskGroup() as group:
                group.create_task(listen(agent))
                while not heard:
                    assert (await session.seize(freeze=True)).is_frozen
                    await session.thaw()
                    await session.drop()
            with pytest.raises(errors.MalformedArgument):
                await session.seize(freeze=True, interrupt=True)
            await session.seize(interrupt=True)
            with pytest.raises(errors.NotYourTurn):
                await agent.send("still mine?")
            return (await session.who()).name_of((await agent.who()).us)

    async def listen(agent: holdfast.Session) -> None:
        async for event in agent.events():
            if isinstance(event, TurnPassed) and event.reason == "seized":
                heard.append(event)
                return

    assert go(story()) == "bot"


def test_an_observer_types_nothing() -> None:
    async def story() -> None:
        async with holdfast.connect() as host:
            session = await shell(host)
            async with host.attach(session.id, observe=True) as watching:
                assert (await watching.state()).word
                with pytest.raises(errors.NotAllowed):
                    await watching.send("a")

    go(story())


async def attempt(agent: holdfast.Session, line: str) -> object:
    try:
        return (await agent.run(line)).output
    except errors.HoldfastError as error:
        return type(error)


async def settled(session: holdfast.Session) -> Event:
    async for event in session.events():
        if isinstance(event, Approved | Denied):
            return event
    raise AssertionError("the session has ended")


@pytest.mark.parametrize(
    ("is_approved", "told", "came"),
    [(True, Approved, "deploy\n"), (False, Denied, errors.DeniedByOperator)],
)
def test_nobody_approves_what_is_their_own_and_others_decide(
    is_approved: bool,  # noqa: FBT001  # a parameter of the test
    told: type[Event],
    came: object,
) -> None:
    async def story() -> tuple[Event, object]:
        async with (
            holdfast.connect() as mine,
            holdfast.connect(operator="bot") as its,
            await shell(mine) as session,
            its.attach(session.id) as agent,
        ):
            await session.run("true")
            async with asyncio.TaskGroup() as group:
                hearing = group.create_task(settled(session))
                trying = group.create_task(attempt(agent, "date +deploy"))
                while not (waiting := await session.pending()):
                    pass
                with pytest.raises(errors.Forbidden):
                    await agent.approve(waiting[0].ticket)
                if is_approved:
                    await session.approve(waiting[0].ticket)
                else:
                    await session.deny(waiting[0])
            with pytest.raises(errors.NothingPending):
                await session.approve(99)
            return hearing.result(), trying.result()

    event, result = go(story())

    assert isinstance(event, told)
    assert result == came
