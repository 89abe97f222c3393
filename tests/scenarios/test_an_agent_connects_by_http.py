import asyncio
import contextlib
import http.client
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.scenarios.agents import SOURCE, WHY, Agent, plainly, shell
from tests.scenarios.support import Machine, eventually, machine

TOKEN = "t" * 40
BODY = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
JSON = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


class Served:
    """A real server on a port of its own, and how to ask it."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.token_file = folder / "token"
        self.token_file.write_text(TOKEN)
        self.token_file.chmod(0o600)
        words = ["--http", f"127.0.0.1:{self.port}", "--token-file"]
        self.program = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "mcp", *words, str(self.token_file)],
            env={**os.environ, "PYTHONPATH": SOURCE},
            stderr=subprocess.DEVNULL,
        )
        eventually("it listens", self._listens)

    def status(self, method: str, path: str, headers: dict[str, str]) -> int:
        """Return the status of one request, with these headers and no others."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(link):
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                link.putheader(name, value)
            link.putheader("Content-Length", str(len(BODY)))
            link.endheaders(BODY)
            return link.getresponse().status

    def _listens(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), 1):
            return True


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        shell(made)
        yield made


@pytest.fixture(scope="module")
def served(
    here: Machine,  # noqa: ARG001  # it must be there first
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("http"))
    yield made
    made.program.terminate()
    made.program.wait(20)


@contextlib.asynccontextmanager
async def connected(served: Served) -> AsyncIterator[Agent]:
    """Connect as a client that bears the token."""
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    url = f"http://127.0.0.1:{served.port}/mcp"
    async with (
        plainly(),
        httpx2.AsyncClient(headers=bearer) as web,
        Client(streamable_http_client(url, http_client=web), cache=None) as client,
    ):
        yield Agent(client)


def test_an_agent_with_the_token_runs_a_command(served: Served) -> None:
    async def story() -> None:
        async with connected(served) as bot:
            ran = await bot.call(
                "run", session="build", command="echo $((6 * 7))", intent=WHY
            )

        assert ran["output"]["text"] == "42\n"

    asyncio.run(story())


def test_a_long_run_tells_how_it_goes_and_goes_on_when_it_is_cancelled(
    served: Served, tmp_path: Path
) -> None:
    told = asyncio.Event()
    go = tmp_path / "go"
    line = f"until [ -e {go} ]; do sleep 0.02; done; echo over"

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert progress > 0
        assert total is None
        assert "running" in str(message)
        told.set()

    async def story() -> None:
        async with connected(served) as bot:
            given = {"session": "build", "command": line, "intent": WHY}
            calling = asyncio.get_running_loop().create_task(
                bot.client.call_tool("run", given, progress_callback=hear)
            )
            async with asyncio.timeout(20):
                await told.wait()
            calling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await calling
            state = await bot.call("state", session="build")
            go.touch()
            await bot.call("wait", session="build", condition="prompt")
            read = await bot.call("read", session="build", max_bytes=200)

        assert state["state"] == "running"
        assert "over" in read["output"]["text"]

    asyncio.run(story())


def test_two_agents_share_a_server_and_are_one_operator(served: Served) -> None:
    async def story() -> None:
        async with connected(served) as first, connected(served) as second:
            await first.call("take_turn", session="build")
            told = await second.call("who", session="build")
            await second.call("drop_turn", session="build")

        assert told["turn_is_yours"]
        assert len(told["attached"]) == 1

    asyncio.run(story())


@pytest.mark.parametrize("path", ["/mcp", "/", "/sse", "/mcp/../mcp", "/metrics"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": "localhost:{port}"}, 403),
        ({"Host": "127.0.0.1:{port}.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 403),
        ({"Origin": "null"}, 403),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer " + "t" * 39}, 401),
        ({"Authorization": "Bearer " + "t" * 41}, 401),
        ({"Authorization": "Basic " + TOKEN}, 401),
        ({"Authorization": "bearer " + TOKEN}, 401),
        ({"Cookie": f"token={TOKEN}", "Authorization": "x"}, 401),
    ],
)
def test_t32_whoever_is_no_local_client_with_the_token_is_refused_on_every_route(
    served: Served, method: str, path: str, changed: dict[str, str], status: int
) -> None:
    usual = {"Host": "127.0.0.1:{port}", "Authorization": f"Bearer {TOKEN}", **JSON}
    headers = {
        name: value.replace("{port}", str(served.port))
        for name, value in {**usual, **changed}.items()
    }

    assert served.status(method, f"{path}?token={TOKEN}", headers) == status


def test_t32_an_id_of_a_session_is_worth_nothing_without_the_token(
    served: Served,
) -> None:
    stolen = {"Host": f"127.0.0.1:{served.port}", "Mcp-Session-Id": "0" * 32, **JSON}

    assert served.status("POST", "/mcp", stolen) == 401


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("address", "mode"),
    [("0.0.0.0:7337", 0o600), ("127.0.0.1:0", 0o600), ("127.0.0.1:7337", 0o644)],
)
def test_it_listens_for_no_other_machine_and_with_no_token_that_others_can_read(
    tmp_path: Path, address: str, mode: int
) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(mode)
    words = ["mcp", "--http", address, "--token-file", str(token)]

    ended = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 64


@pytest.mark.usefixtures("here")
def test_an_agent_is_never_the_user() -> None:
    login = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True)  # noqa: S607  # any will do

    ended = subprocess.run(
        [sys.executable, "-m", "holdfast", "--as", login.stdout.strip(), "mcp"],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 64
