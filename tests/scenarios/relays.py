"""A relay's process, peers of every kind, and bytes that no peer would send."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from holdfast.aio.relay_client import (
    Admitted,
    Knocked,
    Registration,
    WebSocketCarrier,
    reach,
    register,
)
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import LinkEnded
from holdfast.model.ids import ActorId, HostId, actor_id, host_id
from holdfast.wire import relay_messages as wire

PATIENCE = 20.0
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="


def key(name: str) -> SigningKey:
    return SigningKey.from_seed(name.encode().ljust(32, b"."))


HOST, ANNA, BERT = key("host"), key("anna"), key("bert")
HOST_ID: HostId = host_id(HOST.public)
ANNA_ID: ActorId = actor_id(ANNA.public)
ADMITTED = Admitted(frozenset({ANNA_ID}))


class Relay:
    """One process, which can be killed and started again at the same place."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.port = 0
        self.log = folder / "relay.log"
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        store = str(self.folder / "store")
        command = [sys.executable, "-m", "holdfast", "relay", "--store", store]
        listen = ("--listen", f"127.0.0.1:{self.port}", "--plain")
        self.started = len(self.said())
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *listen, *self.options],
                stderr=log,
                env={**os.environ, "HOLDFAST_RUNTIME_DIR": str(self.folder)},
            )
        self.wait_said("relay.started")
        found = re.findall(r"relay.started .*port=(\d+)", self.said())
        self.port = int(found[-1])

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def wait_said(self, event: str) -> None:
        wait_for(
            lambda: (
                event in self.said()[self.started :] or self.process.poll() is not None
            )
        )
        assert event in self.said()[self.started :], self.said()

    def kill(self, number: int = signal.SIGKILL) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def metrics(self) -> dict[str, float]:
        body = self.get("/metrics").partition(b"\r\n\r\n")[2].decode()
        found = re.findall(r"^holdfast_relay_(\S+) (\d+)$", body, re.MULTILINE)
        return {name: float(value) for name, value in found}

    def get(self, path: str, *headers: str, host: str | None = None) -> bytes:
        lines = [f"GET {path} HTTP/1.1", f"Host: {host or self.name}", *headers]
        return self.sent("\r\n".join([*lines, "", ""]).encode())

    def sent(self, data: bytes, wait: float = PATIENCE) -> bytes:
        """Send bytes, and return everything that comes until the end."""
        with self.dial() as link:
            link.settimeout(wait)
            with contextlib.suppress(OSError):
                link.sendall(data)
            return read_all(link)

    def dial(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def upgrade(self, path: str) -> socket.socket:
        """Return a bare link that speaks WebSocket now, its greeting read."""
        return self.greeted(path)[0]

    def registered(self, us: SigningKey) -> socket.socket:
        """Return the bare link of a registered host."""
        link, nonce = self.greeted("/v1/host")
        signature = us.sign(wire.statement(wire.Role.HOST, self.name, nonce))
        link.sendall(frame(wire.encode(wire.Register(us.public, signature))))
        assert b"registered" in link.recv(4096)
        return link

    def greeted(self, path: str) -> tuple[socket.socket, bytes]:
        link = self.dial()
        link.sendall(self.upgrade_request(path))
        heard = b""
        while b"nonce" not in heard or len(heard.partition(b"nonce")[2]) < 34:
            heard += link.recv(4096)
        return link, heard.partition(b"nonce")[2][2:34]

    def upgrade_request(self, path: str, *more: str) -> bytes:
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {self.name}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {KEY.decode()}",
            "Sec-WebSocket-Version: 13",
            *more,
        ]
        return "\r\n".join([*lines, "", ""]).encode()


@contextlib.contextmanager
def relay(folder: Path, *options: str) -> Iterator[Relay]:
    folder.chmod(0o700)
    made = Relay(folder, *options)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.kill()


def read_all(link: socket.socket) -> bytes:
    heard = b""
    with contextlib.suppress(OSError):
        while data := link.recv(65536):
            heard += data
    return heard


def wait_for(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def frame(payload: bytes, first: int = 0x82, *, masked: bool = True) -> bytes:
    """Return one WebSocket frame as a client sends it."""
    size = len(payload)
    bit = 0x80 if masked else 0
    if size < 126:
        head = bytes([first, bit | size])
    elif size < 65536:
        head = bytes([first, bit | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([first, bit | 127]) + size.to_bytes(8, "big")
    return head + (b"\0\0\0\0" if masked else b"") + payload


def run(main: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await main

    asyncio.run(bounded())


@contextlib.asynccontextmanager
async def echoing(
    relay: Relay, admitted: Admitted = ADMITTED, us: SigningKey = HOST
) -> AsyncIterator[Registration]:
    """A host that sends back whatever its operators say."""

    async def answer(registration: Registration) -> None:
        async with asyncio.TaskGroup() as tasks:
            async for knock in registration:
                tasks.create_task(echo(await knock.answer()))

    async with (
        register(relay.url, us, admitted) as registration,
        asyncio.TaskGroup() as tasks,
    ):
        task = tasks.create_task(answer(registration))
        yield registration
        task.cancel()


async def echo(carrier: WebSocketCarrier) -> None:
    try:
        while True:
            await carrier.send(await carrier.receive())
    except LinkEnded:
        pass
    finally:
        await carrier.close()


async def next_knock(registration: Registration) -> Knocked:
    async for knock in registration:
        return knock
    raise AssertionError("the iteration never ends by itself")


async def reached(relay: Relay, us: SigningKey = ANNA) -> WebSocketCarrier:
    return await reach(relay.url, us, HOST_ID)


async def greeted(relay: Relay, path: str) -> tuple[ClientConnection, bytes]:
    """Return a link of ours that has been greeted, and its nonce."""
    link = await connect(f"ws://{relay.name}{path}", compression=None)
    greet = wire.decode(await link.recv(decode=False))
    assert isinstance(greet, wire.Greet)
    return link, greet.nonce


async def refusal(link: ClientConnection) -> str:
    """Return the code that a link is refused with."""
    said = wire.decode(await link.recv(decode=False))
    assert isinstance(said, wire.Refused), said
    await link.wait_closed()
    assert link.close_reason == said.code
    return said.code
