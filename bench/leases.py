"""What it costs a host and a relay to keep the leases of many movable sessions.

The relay and the host's part in it are processes of their own. The keeper's end of
the link is here: it says which sessions there are, and takes each expiry.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.screens import NeverCame
from bench.table import Row, Scale, Table, progress
from tests.scenarios.relays import relay as relay_at

from holdfast.core.relay.lease_registry import TTL
from holdfast.crypto.identity import Identity
from holdfast.host.lease_driver import Leases, boottime
from holdfast.host.uplink import Uplink
from holdfast.linux import packets
from holdfast.model.ids import ENTROPY, host_id, session_id
from holdfast.model.lease_words import Movable

TICKS = os.sysconf("SC_CLK_TCK")
AT_ONCE = 100
ROUNDS = 3
"""Leases' lengths that are measured, of which each has two renewals."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about leases."""
    count = scale.pick(1000, 50)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with near, tempfile.TemporaryDirectory() as folder, relay_at(Path(folder)) as here:
        with far:
            words = [sys.executable, "-m", "bench.leases", here.url, str(far.fileno())]
            host = subprocess.Popen(words, pass_fds=[far.fileno()])  # noqa: S603  # our own
        try:
            _tell(near, here.url, count)
            _demand_all(_heard(near, count, time.monotonic() + TTL), count)
            pids = {"host": host.pid, "relay": here.process.pid}
            before = {name: _cpu(pid) for name, pid in pids.items()}
            began_at = time.monotonic()
            seconds = scale.pick(ROUNDS, 1) * TTL
            progress(f"leases, {count} for {seconds:.0f} s")
            _demand_all(_heard(near, count + 1, began_at + seconds), count)
            took = time.monotonic() - began_at
            for name, pid in pids.items():
                share = 100 * (_cpu(pid) - before[name]) / took
                what = f"{count:,} leases renewed, processor time of the {name}"
                table.add(Row(what, share, "%", at_most=2))
        finally:
            host.kill()
            host.wait()


def _tell(keeper: socket.socket, relay: str, count: int) -> None:
    expires = boottime() + TTL
    told = [
        Movable(session_id(os.urandom(ENTROPY)), f"n{one}", 1, relay, expires)._asdict()
        for one in range(count)
    ]
    for start in range(0, count, AT_ONCE):
        part = {"do": "movable", "sessions": told[start : start + AT_ONCE]}
        keeper.send(json.dumps(part).encode())


def _heard(keeper: socket.socket, count: int, until: float) -> set[str]:
    """Take expiries until so many sessions have one, or it is time."""
    found: set[str] = set()
    while len(found) < count and (left := until - time.monotonic()) > 0:
        keeper.settimeout(left)
        try:
            heard = packets.receive(keeper)
        except TimeoutError:
            break
        words = [] if heard is None else heard[0]["leases"]
        # One that is lost has no expiry any more.
        found.update(one["id"] for one in words if one["expires"])  # type: ignore[attr-defined]
    return found


def _demand_all(found: set[str], count: int) -> None:
    if len(found) != count:
        raise NeverCame(b"a lease", b"%d of %d" % (len(found), count))


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def _host(relay: str, link: socket.socket) -> None:
    """Be a host, as far as leases are concerned."""
    us = Identity.from_seed(os.urandom(32))
    uplink = Uplink(relay, us, lambda _: None)
    leases = Leases(host_id(us.public), lambda _: uplink.registration)
    uplink.linked = leases.linked
    link.settimeout(0)
    leases.keeper_found(link)
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        group.create_task(leases.run())
        group.create_task(uplink.run(lambda: leases.redial_by(relay)))
        while raw := await loop.sock_recv(link, packets.MAX_PACKET):
            leases.heard(raw)


if __name__ == "__main__":
    asyncio.run(_host(sys.argv[1], socket.socket(fileno=int(sys.argv[2]))))
