"""Where a session is looked for that has moved while it was used."""

import asyncio
import os
from pathlib import Path

import pytest

from holdfast.client.current_operator import ourselves
from holdfast.client.hosts import KnownHost
from holdfast.client.moved_host import our_key
from holdfast.crypto.keys import SigningKey
from holdfast.crypto.moved_word import MovedWord, issue
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import PeerError
from holdfast.model.ids import SessionId
from holdfast.sdk.far_route import Far
from holdfast.sdk.moved_routes import MovedRoutes
from holdfast.sdk.near_route import Near
from holdfast.sdk.routes import way_to
from holdfast.wire.messages import ClientKind

SESSION = SessionId("s_" + "a" * 16)
OTHER = SessionId("s_" + "b" * 16)
BETA = SigningKey.from_seed(b"b" * 32)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def word(by: SigningKey, host: str, key: bytes, session: str = SESSION) -> str:
    told = MovedWord(session, 1, host, key, b"s" * 32, ("http://127.0.0.1:9",))
    return issue(told, by)


def our_signing_key() -> SigningKey:
    return SigningKey.from_seed(host_seed())


async def from_here() -> tuple[Near, MovedRoutes]:
    home = await way_to("", "", asyncio.TaskGroup())
    assert isinstance(home, Near)
    assert home.moved is not None
    return home, home.moved


def test_a_session_is_followed_and_no_other() -> None:
    async def story() -> None:
        home, moved = await from_here()
        home.program = ClientKind.MCP

        await moved.follow(SESSION, home, word(our_signing_key(), "beta", BETA.public))

        there = moved.way_to(SESSION, home)
        assert isinstance(there, Far)
        assert (there.name, there.program) == ("beta", ClientKind.MCP)
        assert there.host_key() == BETA.public
        assert moved.way_to(OTHER, home) is home
        await moved.close()

    asyncio.run(story())


def test_where_it_came_from_is_tried_again_and_then_where_it_went() -> None:
    async def story() -> None:
        home, moved = await from_here()
        moved.try_other(SESSION)
        assert moved.way_to(SESSION, home) is home
        await moved.follow(SESSION, home, word(our_signing_key(), "beta", BETA.public))
        there = moved.way_to(SESSION, home)

        moved.try_other(SESSION)
        assert moved.way_to(SESSION, home) is home
        moved.try_other(SESSION)
        assert moved.way_to(SESSION, home) is there

    asyncio.run(story())


def test_a_session_that_comes_back_is_met_here() -> None:
    async def story() -> None:
        home, moved = await from_here()
        await moved.follow(SESSION, home, word(our_signing_key(), "beta", BETA.public))

        await moved.follow(SESSION, home, word(BETA, "alpha", our_key()))

        assert moved.way_to(SESSION, home) is home

    asyncio.run(story())


def test_a_session_that_comes_to_our_machine_is_met_without_a_relay() -> None:
    async def story() -> None:
        us, tasks = ourselves(), asyncio.TaskGroup()
        moved = MovedRoutes(us, tasks)
        beta = KnownHost("beta", BETA.public, b"s" * 32, ("http://127.0.0.1:9",))
        home = Far(beta, us, tasks)

        await moved.follow(SESSION, home, word(BETA, "alpha", our_key()))

        assert isinstance(moved.way_to(SESSION, home), Near)

    asyncio.run(story())


@pytest.mark.parametrize("session", [SESSION, OTHER])
def test_only_the_host_that_it_left_says_where_it_went(session: SessionId) -> None:
    async def story() -> None:
        home, moved = await from_here()
        stranger = SigningKey.from_seed(os.urandom(32))
        key = stranger if session == SESSION else our_signing_key()

        with pytest.raises(PeerError):
            await moved.follow(SESSION, home, word(key, "beta", BETA.public, session))
        assert moved.way_to(SESSION, home) is home

    asyncio.run(story())
