import asyncio
import socket

import pytest
from tests.scenarios.elsewhere import free_port

from holdfast.client.channels import Channels
from holdfast.client.hosts import KnownHost
from holdfast.crypto.identity import Identity
from holdfast.model.errors import HostUnreachable
from holdfast.model.session_requests import ListSessions

US = Identity.from_seed(b"u" * 32)
THEM = Identity.from_seed(b"h" * 32)


def host(port: int) -> KnownHost:
    relays = (f"http://127.0.0.1:{port}",)
    return KnownHost("box", THEM.public, b"s" * 32, relays)


def test_a_host_that_cannot_be_reached_ahead_is_said_so_when_it_is_asked() -> None:
    async def asked() -> None:
        async with asyncio.TaskGroup() as tasks:
            channels = Channels(host(free_port()), US, tasks)
            channels.expect()
            await asyncio.sleep(0)

            for _ in range(2):
                with pytest.raises(HostUnreachable):
                    await channels.ask(ListSessions())

    asyncio.run(asked())


def test_a_relay_is_dialled_once_for_what_was_expected_and_is_asked() -> None:
    async def dials() -> int:
        dialled = 0

        async def hang_up(
            _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            nonlocal dialled
            dialled += 1
            writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, asyncio.TaskGroup() as tasks:
            channels = Channels(host(port), US, tasks)
            channels.expect()
            channels.expect()
            with pytest.raises(HostUnreachable):
                await channels.ask(ListSessions())
        return dialled

    assert asyncio.run(dials()) == 1


def test_closing_gives_up_a_channel_that_is_still_being_opened() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:

        async def closed() -> None:
            async with asyncio.TaskGroup() as tasks:
                channels = Channels(host(silent.getsockname()[1]), US, tasks)
                channels.expect()
                await asyncio.sleep(0)
                await channels.close()

        asyncio.run(asyncio.wait_for(closed(), 5))
