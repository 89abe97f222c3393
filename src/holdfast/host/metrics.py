"""Collects the metrics of this machine, without waking anything.

The keeper lists its sessions, the host says how its links do, and the numbers of each
session are in its file. What cannot be had is left out; `holdfast_up` says so.
"""

import contextlib
import os
import time
from typing import NamedTuple

from holdfast.core.telemetry import exposition
from holdfast.core.telemetry.exposition import Distribution
from holdfast.core.telemetry.host_values import HostValues, Series, pids_of
from holdfast.core.telemetry.session_counts import CountTotals
from holdfast.linux import packets, procfs
from holdfast.linux.keeper_requests import ask_keeper
from holdfast.linux.stored import count_files, places
from holdfast.model.errors import HoldfastError
from holdfast.model.metrics import HOST_METRICS, SESSION_METRICS
from holdfast.model.process_status import HostStatus, KeeperStatus
from holdfast.model.session_record import listed_in, record_of
from holdfast.model.session_requests import ListSessions, Status, packet_of

PATIENCE = 5.0
"""Seconds for an answer: a scrape that takes ten has failed anyway."""

METRICS = (*SESSION_METRICS, *HOST_METRICS)

_STATM = 256
"""Bytes of /proc/PID/statm: seven numbers."""


class Collected(NamedTuple):
    """All numbers of this machine at one moment."""

    values: dict[Series, float]
    distributions: dict[str, Distribution]
    seconds: float
    """Processor time that it took."""

    def text(self) -> str:
        """Return them in Prometheus' text format."""
        return exposition.text(METRICS, self.values, self.distributions)

    def facts(self) -> list[dict[str, object]]:
        """Return them as JSON says it."""
        return exposition.facts(METRICS, self.values, self.distributions)


def collect() -> Collected:
    """Return all numbers that can be had now.

    Raises:
        UsageError: The place of holdfast's files is not ours.

    """
    began = time.process_time()
    found = HostValues()
    keeper = _keeper()
    host = _host()
    found.keeper(keeper)
    found.host(host)
    if keeper is not None:
        with contextlib.suppress(HoldfastError):
            found.sessions(listed_in(ask_keeper(ListSessions(), patience=PATIENCE)))
        pids = pids_of(keeper, host)
        known = [pid for several in pids.values() for pid in several]
        found.processes(pids, _memory_of(known))
    counted = CountTotals()
    with contextlib.suppress(OSError):
        counted = count_files.totals()
    seconds = time.process_time() - began
    found.took(seconds)
    values = {**counted.values(), **found.values()}
    return Collected(values, counted.distributions(), seconds)


def _keeper() -> KeeperStatus | None:
    with contextlib.suppress(HoldfastError):
        return record_of(KeeperStatus, ask_keeper(Status(), patience=PATIENCE))
    return None


def _host() -> HostStatus | None:
    with contextlib.suppress(OSError, HoldfastError):
        with packets.connect(places.host_socket(), PATIENCE) as link:
            packets.send(link, packet_of(Status()))
            heard = packets.receive(link)
        return None if heard is None else record_of(HostStatus, heard[0])
    return None


def _memory_of(pids: list[int]) -> dict[int, int]:
    """Return how many bytes each process has in memory that runs."""
    page = os.sysconf("SC_PAGE_SIZE")
    found = {}
    for pid in pids:
        numbers = procfs.read(f"/proc/{pid}/statm", _STATM).split()
        if len(numbers) > 1:
            found[pid] = int(numbers[1]) * page
    return found
