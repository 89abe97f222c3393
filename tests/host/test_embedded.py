"""The relay that a host runs for its own machine."""

import asyncio
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.scenarios.support import PATIENCE

from holdfast.host.embedded import EmbeddedRelay
from holdfast.model.ids import host_id

HOST = host_id(b"h" * 32)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder))


async def listens(port: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    return
            await asyncio.sleep(0.05)


def test_it_is_reached_where_it_says_and_has_the_same_port_again() -> None:
    async def story() -> list[str]:
        said = []
        for _ in range(2):
            relay = EmbeddedRelay(HOST)
            async with asyncio.TaskGroup() as group:
                said += [relay.start(group), relay.start(group)]
                address = urlsplit(said[-1])
                assert (address.scheme, address.hostname) == ("http", "127.0.0.1")
                assert address.port
                await listens(address.port)
                relay.stop()
        return said

    assert len(set(asyncio.run(story()))) == 1
