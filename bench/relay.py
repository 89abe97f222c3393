"""Cost of a relay, and its throughput.

Plain links, but for one figure without the sealed channel on top: what is measured
is the relay. No terminal is involved, which would be slower than all of it.
The peers are processes of their own, on the same machine and the same cores.
"""

import asyncio
import contextlib
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.relay_peers import PIECE, identity, key
from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.relays import Relay
from tests.scenarios.relays import relay as relay_at

from holdfast.aio.channel import open_channel
from holdfast.aio.relay_client import WebSocketCarrier, reach
from holdfast.crypto.noise import CipherState
from holdfast.crypto.sealing import Inbound, Outbound
from holdfast.model.ids import host_id
from holdfast.wire.channel import MAX_DATA, RecordKind

TICKS = os.sysconf("SC_CLK_TCK")
MEBIBYTE = 1024 * 1024


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the relay."""
    _raise_descriptors()
    with _relay() as here:
        asyncio.run(_latency(table, here, scale, "alone"))
        asyncio.run(_flood(table, here, scale))
        asyncio.run(_sealed_flood(table, here, scale))
        _sealing(table, scale)
        with _peers("load", "load", here.url, str(scale.pick(100, 10))):
            asyncio.run(_latency(table, here, scale, "beside 100 busy pairs", 50))
            _busy(table, here)
    with _relay() as here:
        asyncio.run(_crowd(table, here, scale))
    _restart(table, scale)


@contextlib.contextmanager
def _relay() -> Iterator[Relay]:
    options = ("--max-per-key", "5000", "--max-hosts-per-address", "500")
    with (
        tempfile.TemporaryDirectory() as folder,
        relay_at(Path(folder), *options) as made,
    ):
        yield made


@contextlib.contextmanager
def _peers(role: str, name: str, *more: str) -> Iterator[int]:
    process = subprocess.Popen(  # noqa: S603  # our own
        [sys.executable, "-m", "bench.relay_peers", role, name, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None  # noqa: S101  # as asked for
    try:
        assert process.stdout.readline() == b"ready\n"  # noqa: S101  # else no figure
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _reached(here: Relay, name: str, one: int = 0) -> WebSocketCarrier:
    us = key(f"{name} {one}")
    return await reach(here.url, us, host_id(key(name).public))


async def _latency(
    table: Table, here: Relay, scale: Scale, when: str, most: float | None = None
) -> None:
    progress(f"relay: echo {when}")
    taken = []
    with _peers("host", "echo", here.url):
        began_at = time.perf_counter()
        carrier = await _reached(here, "echo")
        table.add(Row(f"relay: joined, {when}", _ms(began_at), "ms", at_most=300))
        for _ in range(scale.pick(3000, 100)):
            began_at = time.perf_counter()
            await carrier.send(b"k" * 48)
            await carrier.receive()
            taken.append(time.perf_counter() - began_at)
            await asyncio.sleep(0.001)
        await carrier.close()
    half = statistics.median(taken) * 1e3
    table.add(Row(f"relay: echo {when}, p50", half, "ms"))
    worst = percentile(taken, 0.99) * 1e3
    table.add(Row(f"relay: echo {when}, p99", worst, "ms", at_most=most))


async def _flood(table: Table, here: Relay, scale: Scale) -> None:
    progress("relay: throughput")
    wanted = scale.pick(512, 32) * MEBIBYTE
    with _peers("host", "flood", here.url):
        carrier = await _reached(here, "flood")
        before = _cpu(here)
        await carrier.send(b"go")
        got = len(await carrier.receive())
        began_at = time.perf_counter()
        while got < wanted:
            got += len(await carrier.receive())
        took = time.perf_counter() - began_at
        spent = _cpu(here) - before
        await carrier.close()
    speed = got / took / 1e6
    table.add(Row("relay: output through one pair", speed, "MB/s", at_least=30))
    table.add(Row("relay: its CPU for a gigabyte", spent / got * 1e9, "s"))
    table.note(f"in messages of {len(PIECE)} bytes, not sealed")


async def _sealed_flood(table: Table, here: Relay, scale: Scale) -> None:
    progress("relay: throughput, sealed")
    wanted = scale.pick(512, 32) * MEBIBYTE
    us, host = identity("sealed 0"), identity("sealed")
    with _peers("sealed", "sealed", here.url) as pid:
        carrier = await reach(here.url, us, host_id(host.public))
        channel = await open_channel(
            carrier, us, host.public, host.static_public, host_id(host.public)
        )
        got = len(await channel.receive())
        before, began_at = _processor_times(pid, here), time.perf_counter()
        while got < wanted:
            got += len(await channel.receive())
        took = time.perf_counter() - began_at
        spent = [
            now - then
            for now, then in zip(_processor_times(pid, here), before, strict=True)
        ]
        await carrier.close()
    speed = got / took / 1e6
    table.add(Row("relay: output on one sealed channel", speed, "MB/s", at_least=60))
    for who, seconds in zip(("host", "relay", "operator"), spent, strict=True):
        what = f"  CPU of the {who} for a gigabyte of it"
        table.add(Row(what, seconds / got * 1e9, "s"))


def _sealing(table: Table, scale: Scale) -> None:
    """Add what sealing and opening come to if nothing is carried."""
    key, count = bytes(32), scale.pick(4000, 200)
    outbound, inbound = Outbound(CipherState(key)), Inbound(CipherState(key))
    data, began_at = bytes(MAX_DATA), time.process_time()
    for _ in range(count):
        inbound.open(outbound.seal(RecordKind.DATA, data))
    took = time.process_time() - began_at
    speed = count * MAX_DATA / took / 1e6
    table.add(Row("  sealing and opening alone", speed, "MB/s"))


def _busy(table: Table, here: Relay) -> None:
    before, began_at = _cpu(here), time.perf_counter()
    time.sleep(3)
    share = (_cpu(here) - before) / (time.perf_counter() - began_at)
    table.add(Row("relay: CPU with 100 busy pairs", share * 100, "%"))


async def _crowd(table: Table, here: Relay, scale: Scale) -> None:
    count = scale.pick(1000, 50)
    empty = _memory(here)
    with _peers("host", "crowd", here.url):
        began_at = time.perf_counter()
        carriers: list[WebSocketCarrier] = []
        for start in range(0, count, 20):
            progress(f"relay: {start} of {count} operators")
            some = [_reached(here, "crowd", one) for one in range(start, start + 20)]
            carriers += await asyncio.gather(*some)
        taken = time.perf_counter() - began_at
        table.add(Row(f"relay: {count} operators attached", taken, "s"))
        full = _memory(here)
        table.add(
            Row(
                f"relay: memory with {count} idle", full / MEBIBYTE, "MiB", at_most=1000
            )
        )
        table.add(
            Row("relay: memory per operator", (full - empty) / count / 1024, "KiB")
        )
        before = _cpu(here)
        idle = scale.pick(10, 1)
        await asyncio.sleep(idle)
        share = (_cpu(here) - before) / idle * 100
        table.add(Row(f"relay: CPU with {count} idle", share, "%", at_most=1))
        for carrier in carriers:
            await carrier.close()


def _restart(table: Table, scale: Scale) -> None:
    taken = []
    with _relay() as here:
        for _ in range(scale.pick(10, 2)):
            here.kill(signal.SIGKILL)
            began_at = time.perf_counter()
            here.start()
            taken.append(time.perf_counter() - began_at)
    half = statistics.median(taken) * 1e3
    table.add(Row("relay: killed, listens again", half, "ms", at_most=2000))


def _ms(began_at: float) -> float:
    return (time.perf_counter() - began_at) * 1e3


def _processor_times(host: int, here: Relay) -> list[float]:
    """Return what a host, a relay and we have used of a processor, in seconds."""
    return [_cpu_of(host), _cpu(here), _cpu_of(os.getpid())]


def _cpu(here: Relay) -> float:
    return _cpu_of(here.process.pid)


def _cpu_of(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def _memory(here: Relay) -> int:
    pages = Path(f"/proc/{here.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _raise_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
