"""Which screens are watched, for how long, and who is told of a change."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.mcp.support import told

from holdfast.mcp import screens
from holdfast.mcp.reach import Reach
from holdfast.mcp.screens import LIST, Watched, session_of, uri_of
from holdfast.model.errors import AskedTooOften, MalformedArgument

Story = Callable[[Watched, "asyncio.Queue[str]"], Coroutine[Any, Any, None]]


def watching(story: Story) -> None:
    """Run a story with screens to watch, and what is told of them."""

    async def whole() -> None:
        changes: asyncio.Queue[str] = asyncio.Queue()
        async with Reach("bot") as reach:
            watched = Watched(reach, changes.put)
            try:
                await story(watched, changes)
            finally:
                watched.close()

    told(whole)


@pytest.mark.parametrize("session", ["web", "box/web", "s_abc", "a b%2F\u00fc"])
def test_the_address_of_a_screen_names_its_session(session: str) -> None:
    assert session_of(uri_of(session)) == session
    assert uri_of(session).count("/") == 3


@pytest.mark.parametrize(
    "uri",
    [
        LIST,
        "holdfast:///screen",
        "holdfast://a/b/screen",
        "holdfast://web/screens",
        "http://web/screen",
        f"holdfast://{'x' * 201}/screen",
    ],
)
def test_another_address_is_no_screen_s(uri: str) -> None:
    with pytest.raises(MalformedArgument):
        session_of(uri)
    assert session_of(f"holdfast://{'x' * 200}/screen") == "x" * 200


def test_screens_are_listed_of_sessions_that_live(keeper: FakeKeeper) -> None:  # noqa: F811
    web, job = keeper.has("web", "job")  # noqa: F811
    job.facts |= {"state": "exited", "exit": 0}

    async def whole() -> list[tuple[str, str]]:
        async with Reach("bot") as reach:
            return await screens.listed(reach)

    assert told(whole) == [(uri_of(web.id), "web")]


def test_a_change_is_told_and_so_is_the_end(web: FakeSession) -> None:  # noqa: F811
    async def story(watched: Watched, changes: "asyncio.Queue[str]") -> None:
        watched.watch(uri_of("web"))
        await asyncio.to_thread(web.wait_until, lambda: bool(web.attaches))
        web.prints(b"x")
        assert await changes.get() == uri_of("web")
        web.exits(0)
        assert await changes.get() == uri_of("web")

    watching(story)


@pytest.mark.usefixtures("keeper")
def test_a_session_that_is_none_is_told_of_once_so_that_the_client_reads_why() -> None:
    async def story(watched: Watched, changes: "asyncio.Queue[str]") -> None:
        watched.watch(uri_of("nobody"))
        assert await changes.get() == uri_of("nobody")
        while watched._watching:  # noqa: SLF001, ASYNC110  # it ends by itself
            await asyncio.sleep(0.01)
        assert changes.empty()

    watching(story)


@pytest.mark.usefixtures("keeper")
def test_so_many_screens_are_watched_and_one_more_when_one_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(screens, "MAX_WATCHED", 2)

    async def story(watched: Watched, changes: "asyncio.Queue[str]") -> None:
        del changes
        for name in ("a", "b", "a"):
            watched.watch(uri_of(name))
        with pytest.raises(AskedTooOften):
            watched.watch(uri_of("c"))
        watched.forget(uri_of("a"))
        with pytest.raises(AskedTooOften):
            watched.watch(uri_of("c"))
        watched.forget(uri_of("a"))
        watched.watch(uri_of("c"))
        watched.forget(uri_of("nobody"))
        with pytest.raises(MalformedArgument):
            watched.watch(LIST)

    watching(story)
