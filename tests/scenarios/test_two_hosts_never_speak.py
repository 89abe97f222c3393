import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import RelayPlace, places, relay
from tests.scenarios.leased import (
    LATEST,
    TTL,
    Ticking,
    boottime,
    host_at_terminal,
    needs_cgroups,
)
from tests.scenarios.networks import (
    RELAY,
    RELAY_ADDRESS,
    FarPlace,
    Network,
    certificate,
    network,
)
from tests.scenarios.support import eventually

from holdfast.aio.relay_client import Admitted, Registration, register
from holdfast.crypto.identity import Identity
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import HoldfastError, LeaseHeld
from holdfast.model.ids import Incarnation, SessionId, host_id

pytestmark = needs_cgroups

OTHER = Identity.from_seed(b"b" * 32)
FIRST, SECOND = Incarnation(1), Incarnation(2)


@contextlib.asynccontextmanager
async def linked(point: RelayPlace, us: Identity) -> AsyncIterator[Registration]:
    async def read(registration: Registration) -> None:
        with contextlib.suppress(HoldfastError):
            async for _ in registration:
                pass

    async with (
        register(point.url, us, Admitted(), None) as registration,
        asyncio.TaskGroup() as tasks,
    ):
        task = tasks.create_task(read(registration))
        yield registration
        task.cancel()


async def entrust(point: RelayPlace, us: Identity, session: SessionId) -> None:
    """Say in a host's name that another may come after it."""
    async with linked(point, OTHER) as others:
        for _ in range(100):
            with contextlib.suppress(HoldfastError):
                async with linked(point, us) as ours:
                    await ours.entrust(session, [host_id(OTHER.public)])
                    await ours.ask_lease(session, FIRST, seen=FIRST, is_speaking=True)
            try:
                await claimed(others, session)
            except LeaseHeld:
                return
            except HoldfastError:
                await asyncio.sleep(0.05)
        raise AssertionError("it was never entrusted")


async def claimed(others: Registration, session: SessionId) -> float:
    """Claim the next life; return when it was granted."""
    life, _ = await others.ask_lease(session, None, seen=FIRST, is_speaking=False)
    assert life == SECOND
    return boottime()


async def claimed_at_last(point: RelayPlace, session: SessionId) -> float:
    async with linked(point, OTHER) as others:
        while True:
            try:
                return await claimed(others, session)
            except LeaseHeld:
                await asyncio.sleep(0.02)


def test_a_second_host_is_given_the_session_only_after_the_first_stands_still(
    tmp_path: Path,
) -> None:
    with (
        relay("--lease-ttl", str(TTL)) as point,
        places(1) as (here,),
        host_at_terminal(here, point.url) as host,
    ):
        web = Ticking(here, tmp_path)
        session = SessionId(web.facts()["id"])
        with here.inhabited():
            us = Identity.from_seed(host_seed())
        asyncio.run(entrust(point, us, session))
        eventually("the host is linked", here.is_linked)
        assert web.runs

        host.send_signal(signal.SIGSTOP)
        granted = asyncio.run(claimed_at_last(point, session))

        assert not web.runs or granted > web.last
        assert granted - web.last > 0.4, "there is no margin between the two"
        last = web.last

        # It comes back, and learns that it is over.
        host.send_signal(signal.SIGCONT)
        eventually("it is told why", lambda: "elsewhere" in web.facts()["fenced"])
        assert web.last == last
        assert "incarnation 2" in here.do("state", "web")
        assert here.run("leases").stdout.count("over") == 1
        assert here.run("send", "web", "x").returncode == 75
        # What it has is still to be had.
        assert "lease expired" in here.do("log", "web")
        here.do("screen", "web")
        here.do("end", "web")
        assert web.last == last


class NearPlace(FarPlace):
    """A machine in a network of its own that sees our cgroups.

    `ip netns exec` mounts another /sys, which has none.
    """

    def __init__(self, nets: Network, trusted: Path) -> None:
        super().__init__(nets, "one", trusted)
        self._within = ["nsenter", f"--net=/run/netns/{nets.namespace('one')}"]


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(f"/tmp/hf-lease-{os.getpid()}")  # noqa: S108  # a capsule sees it
    made.mkdir()
    yield made
    shutil.rmtree(made)


@pytest.mark.skipif(shutil.which("ip") is None, reason="needs iproute2")
def test_a_network_that_is_cut_fences_and_heals(folder: Path) -> None:
    chain, key = certificate(folder)
    with network("one") as nets:
        words = ["relay", "--listen", f"{RELAY_ADDRESS}:443", "--cert", str(chain)]
        words += ["--key", str(key), "--store", str(folder / "leases")]
        words += ["--lease-ttl", str(TTL)]
        point = subprocess.Popen(
            [*nets.within(RELAY), sys.executable, "-m", "holdfast", *words],
            env={**os.environ, "HOLDFAST_RUNTIME_DIR": str(folder / "run")},
            stderr=subprocess.DEVNULL,
        )
        here = NearPlace(nets, chain)
        try:
            here.up(f"https://{RELAY_ADDRESS}")
            web = Ticking(here, folder)

            nets.cut("one")
            assert web.fenced() <= LATEST

            nets.heal("one")
            eventually("it goes on", lambda: web.runs)
            assert web.is_state("running")
        finally:
            here.close()
            point.kill()
            point.wait()
