"""The relay's process: how it listens, takes callers in, and ends when it is told."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.relay.relay_world import NAME, PATIENCE, PLAIN, until
from websockets.asyncio.client import connect

from holdfast.model.errors import MalformedArgument
from holdfast.relay import service
from holdfast.relay.peers import RelayPeers
from holdfast.relay.service import Relay
from holdfast.relay.settings import Settings


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def settings() -> Settings:
    return replace(PLAIN, address="127.0.0.1", port=free_port())


@contextlib.asynccontextmanager
async def running(given: Settings) -> AsyncIterator["asyncio.Task[bool]"]:
    """Run a relay, which ends at the latest when the block does."""
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        task = group.create_task(Relay(given, None).run())
        yield task
        if not task.done():
            os.kill(os.getpid(), signal.SIGTERM)


async def dialled(given: Settings) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect as soon as somebody listens."""
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            return await asyncio.open_connection(given.address, given.port)
        await asyncio.sleep(0.01)


def test_a_relay_serves_until_a_signal_comes() -> None:
    async def served() -> bool:
        given = settings()
        async with running(given) as task:
            reader, writer = await dialled(given)
            writer.write(b"GET /nothing HTTP/1.1\r\nHost: relay.example\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 404")
            writer.close()
            assert not task.done()
            os.kill(os.getpid(), signal.SIGTERM)
            return await task

    assert asyncio.run(served()) is True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_relay_that_is_told_to_end_listens_no_more_and_takes_leave(
    number: signal.Signals,
) -> None:
    async def left() -> None:
        given = settings()
        async with running(given) as task:
            (_, first) = await dialled(given)
            first.close()
            address = f"ws://{NAME}/v1/host"
            async with connect(address, host="127.0.0.1", port=given.port) as talk:
                await talk.recv()  # The greeting.
                os.kill(os.getpid(), number)
                await talk.wait_closed()
            assert await task is True
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(given.address, given.port)

    asyncio.run(left())


def test_a_relay_whose_store_fails_ends_and_says_so() -> None:
    async def failed() -> bool:
        given = settings()
        relay = Relay(given, None)
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            task = group.create_task(relay.run())
            _, writer = await dialled(given)
            relay._fail(OSError("the disk is full"))  # noqa: SLF001  # as its store does
            writer.close()
        return task.result()

    assert asyncio.run(failed()) is False


def test_an_address_that_is_taken_is_said_to_be() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = replace(settings(), port=taken.getsockname()[1])

        with pytest.raises(MalformedArgument, match=r"127\.0\.0\.1:\d+.*free"):
            asyncio.run(Relay(given, None).run())


@pytest.mark.parametrize("port", [70_000, -1])
def test_a_port_that_is_none_is_said_to_be(port: int) -> None:
    with pytest.raises(MalformedArgument, match="free to listen at"):
        service._listener(replace(settings(), port=port))  # noqa: SLF001


@pytest.mark.parametrize(
    ("address", "family"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)]
)
def test_a_relay_listens_at_both_kinds_of_address(
    address: str, family: socket.AddressFamily
) -> None:
    with service._listener(replace(PLAIN, address=address, port=0)) as found:  # noqa: SLF001
        assert found.family == family
        assert found.getblocking() is False
        assert found.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)


def test_a_certificate_that_cannot_be_used_is_said_to_be(tmp_path: Path) -> None:
    bad = tmp_path / "cert.pem"
    bad.write_text("nothing")

    assert service._tls(PLAIN) is None  # noqa: SLF001
    for path in (bad, tmp_path / "none.pem"):
        given = replace(PLAIN, certificate=path, key=path)
        with pytest.raises(MalformedArgument, match="a certificate with its key"):
            service._tls(given)  # noqa: SLF001


def test_as_many_may_come_as_the_system_allows() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        service._raise_descriptors()  # noqa: SLF001
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_is_over_is_looked_for_while_the_relay_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks: list[str] = []

    class Seen(RelayPeers):
        def tick(self) -> None:
            ticks.append("tick")
            super().tick()

        def sweep(self) -> None:
            ticks.append("sweep")
            super().sweep()

    monkeypatch.setattr(service, "RelayPeers", Seen)
    monkeypatch.setattr(service, "TICK", 0.01)

    async def looked() -> None:
        given = replace(settings(), heartbeat=0.16)
        async with running(given):
            await until(lambda: ticks.count("sweep") >= 2)

    asyncio.run(looked())

    # A heartbeat of 0.16 s has eight looks at everybody: each second tick is one.
    assert ticks[:6] == ["tick", "tick", "sweep", "tick", "tick", "sweep"]


def test_who_finds_no_place_is_hung_up_on() -> None:
    async def crowded() -> bytes:
        given = replace(settings(), unproven=1, unproven_per_source=1)
        async with running(given):
            _, first = await dialled(given)
            reader, second = await dialled(given)
            said = await reader.read(1)
            second.close()
            first.close()
            return said

    assert asyncio.run(crowded()) == b""
