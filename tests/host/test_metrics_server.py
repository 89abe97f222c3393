"""The process that serves metrics on loopback, and whom it refuses."""

import asyncio
import contextlib
import http.client
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import PATIENCE

from holdfast.host import metrics_process, metrics_server
from holdfast.host.metrics import Collected, collect
from holdfast.host.metrics_server import MAX_HEAD, MetricsServer
from holdfast.model.errors import MalformedArgument


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder))


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        yield int(trial.getsockname()[1])


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


async def listening(port: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    return
            await asyncio.sleep(0.02)


def serve(ask: Callable[[int], Awaitable[None]]) -> None:
    """Run a server beside `ask`, and end it by a signal as a service manager would."""
    port = free_port()

    async def story() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(MetricsServer("127.0.0.1", port).run())
            await listening(port)
            await ask(port)
            os.kill(os.getpid(), signal.SIGTERM)

    asyncio.run(story())


async def exchanged(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        async with asyncio.timeout(PATIENCE):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def request(port: int, first: str = "GET /metrics HTTP/1.1", *more: str) -> bytes:
    lines = [first, f"Host: 127.0.0.1:{port}", *more, "", ""]
    return "\r\n".join(lines).encode()


def test_prometheus_is_served_and_everybody_else_is_refused() -> None:
    async def ask(port: int) -> None:
        def status(*words: str) -> Awaitable[bytes]:
            return exchanged(port, request(port, *words))

        good = await status()
        assert good.startswith(b"HTTP/1.1 200 OK\r\n")
        head, _, body = good.partition(b"\r\n\r\n")
        assert b"Content-Type: text/plain; version=0.0.4" in head
        assert f"Content-Length: {len(body)}\r\n".encode() in head
        assert b'holdfast_up{process="keeper"} 0\n' in body
        named = await exchanged(port, good_for(f"localhost:{port}"))
        assert named.startswith(b"HTTP/1.1 200 ")
        for words, code in (
            (("GET /metrics HTTP/1.1", "Origin: http://evil"), b"403"),
            (("GET /metrics HTTP/1.1", "Host: twice"), b"403"),
            (("GET / HTTP/1.1",), b"404"),
            (("GET /metrics?x HTTP/1.1",), b"403"),
            (("POST /metrics HTTP/1.1",), b"405"),
            (("GET /metrics",), b"400"),
            (("GET /metrics SPDY/9",), b"400"),
            (("GET /metrics HTTP/1.1", "no colon"), b"400"),
            (("GET /metrics HTTP/1.1", "x: " + "y" * MAX_HEAD), b"400"),
        ):
            answer = await status(*words)
            assert answer.startswith(b"HTTP/1.1 " + code), words
        rebound = await exchanged(port, good_for(f"evil.example:{port}"))
        assert rebound.startswith(b"HTTP/1.1 403 ")

    serve(ask)


def good_for(host: str) -> bytes:
    return f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def test_a_client_that_says_nothing_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics_server, "PATIENCE", 0.1)

    async def ask(port: int) -> None:
        assert await exchanged(port, b"") == b""

    serve(ask)


def test_too_many_at_once_are_hung_up_on_and_the_next_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics_server, "PATIENCE", PATIENCE)
    monkeypatch.setattr(metrics_server, "MAX_CONNECTIONS", 3)

    async def ask(port: int) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert await exchanged(port, b"") == b""
        for _, writer in silent:
            writer.close()
            await writer.wait_closed()
        async with asyncio.timeout(PATIENCE):
            while not (answer := await exchanged(port, request(port))):
                pass
        assert answer.startswith(b"HTTP/1.1 200 ")

    serve(ask)


def test_however_often_it_is_asked_it_collects_no_more_than_its_share_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collected = []

    def counted() -> Collected:
        collected.append(1)
        return collect()._replace(seconds=1.0)

    monkeypatch.setattr(metrics_server, "collect", counted)

    async def ask(port: int) -> None:
        for _ in range(20):
            answer = await exchanged(port, request(port))
            assert answer.startswith(b"HTTP/1.1 200 ")

    serve(ask)
    assert len(collected) == 1


def test_folders_that_are_not_ours_are_an_error_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "file"))

    async def ask(port: int) -> None:
        answer = await exchanged(port, request(port))
        assert answer.startswith(b"HTTP/1.1 503 ")

    serve(ask)


def test_an_address_that_is_taken_is_said_to_be(port: int) -> None:
    with pytest.raises(MalformedArgument):
        metrics_server.serve("127.0.0.1", port)


def test_a_host_that_is_told_where_serves_metrics_by_a_process_of_its_own(
    tmp_path: Path,
) -> None:
    port = free_port()
    config = tmp_path / "config" / "config.toml"
    config.write_text(f'[metrics]\nlisten = "127.0.0.1:{port}"\n')
    config.chmod(0o600)

    async def story() -> None:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(metrics_process.serve_metrics())
            await listening(port)
            asked = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            assert await asyncio.to_thread(fetched, asked) == 200
            asked.close()
            serving.cancel()

    def fetched(link: http.client.HTTPConnection) -> int:
        link.request("GET", "/metrics")
        return link.getresponse().status

    asyncio.run(story())


def test_a_host_that_is_not_told_where_serves_none() -> None:
    asyncio.run(metrics_process.serve_metrics())
