import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.scenarios.agents import SOURCE, Agent, plainly, shell
from tests.scenarios.support import machine


def test_the_documented_line_works_for_an_agent_that_nobody_knows_yet() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--as", "claude", "mcp", "--http", f"127.0.0.1:{port}"]
    with machine() as made:
        shell(made)
        program = subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            env={**os.environ, "PYTHONPATH": SOURCE},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert program.stderr is not None
            told = program.stderr.readline()
            token = Path(told.partition("token in ")[2].strip()).read_text().strip()

            listed = asyncio.run(_sessions(port, token))
        finally:
            program.terminate()
            program.communicate(timeout=20)

    assert [one["session"] for one in listed["sessions"]] == ["build"]


async def _sessions(port: int, token: str) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}/mcp"
    while True:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port)),
        ):
            break
        await asyncio.sleep(0.02)
    async with (
        plainly(),
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as web,
        Client(streamable_http_client(url, http_client=web), cache=None) as client,
    ):
        return await Agent(client).call("list_sessions")
