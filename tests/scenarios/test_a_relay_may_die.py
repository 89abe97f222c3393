import asyncio
import os
import signal
import socket
import time
from pathlib import Path

import pytest
from tests.scenarios.relays import (
    ADMITTED,
    ANNA,
    HOST,
    HOST_ID,
    Relay,
    echoing,
    next_knock,
    reached,
    relay,
    run,
    wait_for,
)

from holdfast.aio.relay_client import Registration, WebSocketCarrier, reach, register
from holdfast.model.errors import LinkEnded, RelayLeaving, RelayUnreachable

MEBIBYTE = 1024 * 1024


async def pair(
    relay: Relay, registration: Registration
) -> tuple[WebSocketCarrier, WebSocketCarrier]:
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(reached(relay))
        knock = await next_knock(registration)
        host = await knock.answer()
    return host, asking.result()


async def parted(carrier: WebSocketCarrier) -> str:
    with pytest.raises(LinkEnded) as caught:
        await _receive_all(carrier)
    return str(caught.value.facts["why"])


async def _receive_all(carrier: WebSocketCarrier) -> None:
    while True:
        await carrier.receive()


def test_a_killed_relay_is_noticed_at_once_and_serves_again_when_started(
    tmp_path: Path,
) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            _, operator = await pair(point, registration)
            await asyncio.to_thread(point.kill)
            assert await parted(operator) == ""
            with pytest.raises(LinkEnded):
                await next_knock(registration)
            with pytest.raises(RelayUnreachable):
                await reached(point)
        began = time.monotonic()
        await asyncio.to_thread(point.start)
        async with echoing(point):
            await (await reached(point)).close()
        assert time.monotonic() - began < 5

    with relay(tmp_path) as point:
        run(story(point))


def test_a_relay_told_to_end_tells_everybody_and_ends_in_time(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            host, operator = await pair(point, registration)
            point.process.send_signal(signal.SIGTERM)
            with pytest.raises(RelayLeaving):
                await next_knock(registration)
            await host.send(b"the last word")
            assert await operator.receive() == b"the last word"
            assert await parted(operator) == "relay-leaving"
            assert await parted(host) == "relay-leaving"
        assert await asyncio.to_thread(point.process.wait, 10) == 0

    with relay(tmp_path) as point:
        run(story(point))


def test_a_relay_told_twice_ends_without_further_ado(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            _, operator = await pair(point, registration)
            point.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(point.wait_said, "relay.draining")
            point.process.send_signal(signal.SIGTERM)
            assert await parted(operator) == "relay-leaving"

    with relay(tmp_path, "--drain", "600") as point:
        run(story(point))


@pytest.mark.parametrize("dies", ["host", "operator"])
def test_an_end_that_dies_takes_its_other_end_along_and_nobody_else(
    tmp_path: Path, dies: str
) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            host, operator = await pair(point, registration)
            other_host, other = await pair(point, registration)
            dead, left = (host, operator) if dies == "host" else (operator, host)
            dead._link.transport.abort()  # noqa: SLF001  # as a killed process would
            assert await parted(left) == "peer-left"
            await other.send(b"unmoved")
            assert await other_host.receive() == b"unmoved"
            await other.close()
            await other_host.close()

    with relay(tmp_path) as point:
        run(story(point))


def test_t43_an_end_that_fell_silent_is_cut_within_two_heartbeats(
    tmp_path: Path,
) -> None:
    with relay(tmp_path, "--heartbeat", "0.4") as point, point.registered(HOST) as link:
        wait_for(lambda: point.metrics()["hosts"] == 1)
        began = time.monotonic()
        wait_for(lambda: point.metrics()["hosts"] == 0)
        took = time.monotonic() - began
        link.settimeout(5)
        pings = link.recv(4096).count(b"\x89\x00")

    assert took < 2
    assert pings >= 1


def test_who_answers_pings_stays_however_quiet(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            host, operator = await pair(point, registration)
            await asyncio.sleep(2)  # Ten heartbeats.
            await host.send(b"still here")
            assert await operator.receive() == b"still here"
            await operator.close()
            await host.close()

    with relay(tmp_path, "--heartbeat", "0.2") as point:
        run(story(point))


def test_a_reader_that_stops_holds_its_writer_up_and_is_cut_at_last(
    tmp_path: Path,
) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            host, operator = await pair(point, registration)
            quick_host, quick = await pair(point, registration)
            operator._link.transport.pause_reading()  # noqa: SLF001  # a stopped terminal
            before, sent = memory(point), 0

            async def flood() -> None:
                nonlocal sent
                while True:
                    await host.send(b"x" * 60_000)
                    sent += 60_000
                    await quick_host.send(b"y")
                    assert await quick.receive() == b"y"

            with pytest.raises(LinkEnded) as caught:
                await flood()
            assert caught.value.facts["why"] == "slow-peer"
            assert memory(point) - before < 4 * MEBIBYTE
            assert sent < 64 * MEBIBYTE
            for carrier in (operator, host, quick, quick_host):
                carrier._link.transport.abort()  # noqa: SLF001  # it is over
                await carrier._link.wait_closed()  # noqa: SLF001  # ditto

    with relay(tmp_path, "--slow-peer", "1") as point:
        run(story(point))


def test_nothing_is_lost_or_doubled_while_a_reader_stops_now_and_then(
    tmp_path: Path,
) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            host, operator = await pair(point, registration)

            async def send() -> None:
                for number in range(2000):
                    await host.send(number.to_bytes(4, "big") * 4096)
                await host.close("done")

            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(send())
                for number in range(2000):
                    if number % 500 == 0:
                        await asyncio.sleep(0.2)
                    heard = await operator.receive()
                    assert heard == number.to_bytes(4, "big") * 4096
            assert await parted(operator) == "done"

    with relay(tmp_path) as point:
        run(story(point))


def test_an_operator_that_waits_hears_from_a_host_that_comes_back(
    tmp_path: Path,
) -> None:
    async def story(point: Relay) -> None:
        async with register(point.url, HOST, ADMITTED) as registration:
            asking = asyncio.ensure_future(reached(point))  # noqa: TID251  # awaited below
            await next_knock(registration)
        async with echoing(point):
            carrier = await asking
            assert carrier.host == HOST_ID
            await carrier.close()

    with relay(tmp_path) as point:
        run(story(point))


def test_many_come_and_go_and_nothing_is_left_of_them(tmp_path: Path) -> None:
    async def story(point: Relay) -> None:
        async with echoing(point):
            for _ in range(10):
                carriers = [await reach(point.url, ANNA, HOST_ID) for _ in range(10)]
                for carrier in carriers:
                    await carrier.close()

    with relay(tmp_path) as point:
        run(story(point))
        wait_for(lambda: point.metrics()["links"] == 1)
        descriptors = len(os.listdir(f"/proc/{point.process.pid}/fd"))  # noqa: PTH208  # to count
        run(story(point))
        wait_for(lambda: point.metrics()["links"] == 1)
        now = len(os.listdir(f"/proc/{point.process.pid}/fd"))  # noqa: PTH208  # ditto

        numbers = point.metrics()
        assert now <= descriptors + 1
        assert numbers["pairs"] == numbers["hosts"] == numbers["operators_waiting"] == 0
        assert numbers["pairs_total"] == 200


def test_without_descriptors_the_relay_waits_and_serves_again(tmp_path: Path) -> None:
    with relay(tmp_path) as point:
        limit = len(os.listdir(f"/proc/{point.process.pid}/fd")) + 4  # noqa: PTH208  # to count
        _limit_descriptors(point.process.pid, limit)
        links = [socket.create_connection(("127.0.0.1", point.port)) for _ in range(20)]
        point.wait_said("relay.crowded")
        for link in links:
            link.close()

        wait_for(lambda: b"ok" in point.get("/healthz"))


def _limit_descriptors(pid: int, limit: int) -> None:
    import resource  # noqa: PLC0415  # only here

    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limit))


def memory(relay: Relay) -> int:
    pages = Path(f"/proc/{relay.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
