"""The metrics of a host, from what its processes say of themselves.

Nobody is asked who would have to be woken: the keeper knows every session, and what is
in memory of a process the kernel says.
"""

from collections.abc import Iterable, Mapping

from holdfast.model.metrics import BY_NAME
from holdfast.model.process_status import HostStatus, KeeperStatus

Series = tuple[str, tuple[str, ...]]


def pids_of(keeper: KeeperStatus, host: HostStatus | None) -> dict[str, list[int]]:
    """Return the processes of holdfast that run, by what each is."""
    relay = 0 if host is None else host.relay
    found = {
        "keeper": [keeper.pid],
        "trustee": [keeper.trustee],
        "nursery": [keeper.nursery],
        "dozer": [keeper.dozer],
        "host": [keeper.host or (0 if host is None else host.pid)],
        "relay": [relay],
        "painter": [keeper.painter],
        "judge": [keeper.judge],
        "holders": [*keeper.holders],
    }
    return {what: [pid for pid in pids if pid] for what, pids in found.items()}


class HostValues:
    """The numbers of one host at one moment."""

    def __init__(self) -> None:
        self._values: dict[Series, float] = {}

    def values(self) -> dict[Series, float]:
        """Return everything that was told."""
        return dict(self._values)

    def keeper(self, found: KeeperStatus | None) -> None:
        """Tell of the keeper, which may not be there."""
        self._set("holdfast_up", "keeper", value=found is not None)
        if found is not None:
            replaced = found.replaced.count_
            self._set("holdfast_processes_replaced_total", value=replaced)

    def sessions(self, listed: Iterable[object]) -> None:
        """Tell of all sessions, as the keeper lists them."""
        dozing = warned = 0
        for one in listed:
            if not isinstance(one, Mapping):
                continue
            has_ended = one.get("exit") is not None
            state = "exited" if has_ended else str(one.get("state") or "running")
            self._add("holdfast_sessions", state)
            if state != "exited":
                runtime = str(one.get("runtime") or "plain")
                self._add("holdfast_sessions_runtime", runtime)
                dozing += bool(one.get("dozing"))
                warned += bool(one.get("reaps_ms"))
        self._set("holdfast_sessions_dozing", value=dozing)
        self._set("holdfast_sessions_reap_warned", value=warned)

    def host(self, found: HostStatus | None) -> None:
        """Tell of the host process, which may not be there."""
        self._set("holdfast_up", "host", value=found is not None)
        if found is None:
            return
        for link in found.links:
            self._add("holdfast_uplinks", "up" if link.up else "down")
        held = found.lease_count - found.fenced_count
        self._set("holdfast_leases", "held", value=held)
        self._set("holdfast_leases", "lost", value=found.fenced_count)
        self._set("holdfast_remote_operators", value=len(found.operators))
        traffic = found.traffic
        for result, count in (
            ("admitted", traffic.came),
            ("refused", traffic.turned_away),
            ("missed", traffic.not_met),
        ):
            self._set("holdfast_remote_channels_total", result, value=count)
        self._set("holdfast_remote_bytes_total", "in", value=traffic.bytes_in)
        self._set("holdfast_remote_bytes_total", "out", value=traffic.bytes_out)

    def processes(
        self, pids: Mapping[str, list[int]], memory: Mapping[int, int]
    ) -> None:
        """Tell of processes, and how many bytes of memory each has."""
        for what, known in pids.items():
            there = [pid for pid in known if pid in memory]
            resident = sum(memory[pid] for pid in there)
            self._set("holdfast_processes", what, value=len(there))
            self._set("holdfast_resident_bytes", what, value=resident)

    def took(self, seconds: float) -> None:
        """Tell how long finding all this out has kept a processor busy."""
        self._set("holdfast_metrics_seconds", value=seconds)

    def _set(self, name: str, *labels: str, value: float) -> None:
        self._values[name, BY_NAME[name].fitting(labels)] = value

    def _add(self, name: str, *labels: str) -> None:
        series = name, BY_NAME[name].fitting(labels)
        self._values[series] = self._values.get(series, 0) + 1
