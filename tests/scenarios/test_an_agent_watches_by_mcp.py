import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from tests.scenarios.agents import WHY, agent, shell, until
from tests.scenarios.support import Machine, machine

import holdfast
from holdfast.linux.stored import places
from holdfast.wire.messages import End

SECRET = "c0rrect-h0rse"  # noqa: S105  # made up for this


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_a_screen_is_a_resource_and_its_changes_are_told(here: Machine) -> None:
    session = shell(here)
    uri = f"holdfast://{session}/screen"

    async def story() -> None:
        async with agent() as bot, holdfast.connect() as host:
            listed = await bot.client.list_resources()
            async with bot.client.listen(resource_subscriptions=[uri]) as changes:
                await host.attach("build").run("echo fresh")
                async with asyncio.timeout(20):
                    event: Any = await anext(aiter(changes))
            shown = await until(lambda: _screen(bot.client, uri, "fresh"))

        assert uri in {str(one.uri) for one in listed.resources}
        assert str(event.uri) == uri
        assert shown["is_data"]

    asyncio.run(story())


def test_the_end_of_a_session_is_told_and_reading_its_screen_says_why(
    here: Machine,
) -> None:
    session = shell(here)
    uri = f"holdfast://{session}/screen"

    async def story() -> None:
        async with agent() as bot:
            client = bot.client
            async with client.listen(resource_subscriptions=[uri]) as changes:
                told = aiter(changes)
                here.join(session).send(End(9, leave=False))
                async with asyncio.timeout(20):
                    while (error := await _reading_error(client, uri)) is None:
                        await anext(told)

        assert error["code"] == "session-over"
        assert "`log`" in error["next_step"]

    asyncio.run(story())


def test_clients_of_the_older_protocol_are_told_too(here: Machine) -> None:
    session = shell(here)
    uri = f"holdfast://{session}/screen"
    told = asyncio.Event()

    async def hear(message: object) -> None:
        if uri in str(message):
            told.set()

    async def story() -> None:
        async with (
            agent(mode="legacy", hear=hear) as bot,
            holdfast.connect() as host,
        ):
            await bot.client.session.subscribe_resource(uri)
            await host.attach("build").run("echo fresh")
            async with asyncio.timeout(20):
                await told.wait()
            await bot.client.session.unsubscribe_resource(uri)

    with pytest.warns(MCPDeprecationWarning, match="subscribe"):
        asyncio.run(story())


@pytest.mark.parametrize(
    "uri", ["holdfast://nobody/screen", "holdfast://x/y/z", "file:///etc/passwd"]
)
def test_what_is_no_screen_is_refused(here: Machine, uri: str) -> None:
    shell(here)

    async def story() -> None:
        async with agent() as bot:
            with pytest.raises(MCPError):
                await bot.client.read_resource(uri)

    asyncio.run(story())


def test_a_long_run_tells_how_it_goes(here: Machine) -> None:
    shell(here)
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        heard.append((progress, message))

    async def story() -> None:
        async with agent() as bot:
            given = {"session": "build", "command": "read line", "intent": WHY}
            await bot.client.call_tool(
                "run",
                {**given, "until_input": False, "timeout": 3},
                progress_callback=hear,
            )

        assert heard
        assert all(done > 0 for done, _ in heard)
        assert "waiting-for-input" in str(heard[-1][1])

    asyncio.run(story())


def test_a_secret_is_typed_and_stands_in_no_book_and_no_answer(here: Machine) -> None:
    session = shell(here)

    async def story() -> str:
        async with agent() as bot:
            ran = await bot.call(
                "run", session="build", command="read -s word", intent=WHY
            )
            early = await bot.tried(
                "answer", session="build", secret=SECRET, intent="log in as told"
            )
            late = await bot.refused(
                "answer", session="build", secret=SECRET, intent="once more"
            )
            told = await bot.call("log", session="build", max_entries=100)

        assert (ran["stopped_waiting"], ran["state"]) == ("asked", "waiting-for-secret")
        assert early["was_typed"]
        assert late["code"] in ("not-waiting", "would-be-shown")
        return json.dumps([ran, early, late, told])

    answers = asyncio.run(story())
    assert SECRET not in answers
    assert SECRET.encode() not in places.session_log(session).read_bytes()


async def _reading_error(client: Client, uri: str) -> dict[str, Any] | None:
    try:
        await client.read_resource(uri)
    except MCPError as error:
        told: dict[str, Any] = error.data["error"]
        return told if told["code"] == "session-over" else None
    return None


async def _screen(client: Client, uri: str, wanted: str) -> dict[str, Any]:
    try:
        (content,) = (await client.read_resource(uri)).contents
    except MCPError:  # On a busy machine a painter takes its time.
        return {}
    shown: dict[str, Any] = json.loads(getattr(content, "text", ""))["screen"]
    return shown if wanted in shown["text"] else {}
