import asyncio
import contextlib
import socket
from collections.abc import Iterator

import pytest
from tests.sdk.support import go

from holdfast.aio.holder_link import READ, SocketStream
from holdfast.model.errors import SessionUnreachable
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)


@contextlib.contextmanager
def pair() -> Iterator[tuple[SocketStream, socket.socket]]:
    ours, holder = socket.socketpair()
    ours.settimeout(0)
    with ours, holder:
        yield SocketStream(SESSION, ours), holder


def test_what_a_holder_says_last_is_read_though_nothing_can_be_sent_any_more() -> None:
    async def story(stream: SocketStream, holder: socket.socket) -> bytes:
        await stream.send(b"never read")
        holder.sendall(b"the answer")
        holder.close()
        with pytest.raises(SessionUnreachable):
            await stream.send(b"too late")
        return await stream.receive()

    with pair() as (stream, holder):
        assert go(story(stream, holder)) == b"the answer"


def test_then_it_is_gone() -> None:
    async def story(stream: SocketStream, holder: socket.socket) -> bytes:
        holder.close()
        return await stream.receive()

    with pair() as (stream, holder):
        assert go(story(stream, holder)) == b""


def test_a_holder_that_hangs_up_on_what_it_has_not_read_is_unreachable() -> None:
    async def story(stream: SocketStream, holder: socket.socket) -> None:
        await stream.send(b"never read")
        holder.close()
        with pytest.raises(SessionUnreachable):
            await stream.receive()

    with pair() as (stream, holder):
        go(story(stream, holder))


def test_more_than_a_slow_holder_takes_at_once_is_sent_in_order() -> None:
    size = 4 * READ

    async def story(stream: SocketStream, holder: socket.socket) -> bytes:
        read = bytearray()
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(stream.send(bytes(size) + b"end"))
            await asyncio.sleep(0)
            assert not sending.done()
            while not read.endswith(b"end"):
                read += await asyncio.to_thread(holder.recv, READ)
        return bytes(read)

    with pair() as (stream, holder):
        assert go(story(stream, holder)) == bytes(size) + b"end"


def test_a_reader_that_is_cancelled_loses_nothing() -> None:
    async def story(stream: SocketStream, holder: socket.socket) -> bytes:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(stream.receive())
            await asyncio.sleep(0)
            reading.cancel()
            holder.sendall(b"kept")
        return await stream.receive()

    with pair() as (stream, holder):
        assert go(story(stream, holder)) == b"kept"


def test_a_reader_is_told_when_we_hang_up_and_that_may_be_twice() -> None:
    async def story(stream: SocketStream) -> bytes:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(stream.receive())
            await asyncio.sleep(0)
            await stream.close()
            await stream.close()
        assert await stream.receive() == b""
        return reading.result()

    with pair() as (stream, _):
        assert go(story(stream)) == b""
