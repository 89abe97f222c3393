"""The settings of a relay."""

from dataclasses import dataclass, field
from pathlib import Path

from holdfast.core.relay.lease_registry import TTL
from holdfast.core.relay.peer_joins import Limits
from holdfast.core.relay.unproven_connections import PER_SOURCE, TOTAL, is_loopback
from holdfast.model.errors import PlaintextRefused
from holdfast.model.ids import HostId

PORT = 7447
"""Where a relay listens unless told otherwise; nobody has registered it."""

HEARTBEAT = 20.0
"""Seconds of silence after which an end is asked whether it is there; cut after
twice as many (T43). Shorter than what home routers forget connections after."""

SLOW_PEER = 15.0
"""Seconds an end may take for what fills its buffer, before it is hung up on."""

DRAIN = 1.0
"""Seconds for which those who are joined may go on once the relay is stopped:
peers with another relay go there, and the others want us back soon."""

HOSTS_PER_SOURCE = 64
"""Hosts registered from one address: a key costs nothing to make."""

DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be chosen about a relay."""

    address: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    is_plain: bool = False
    is_behind_proxy: bool = False
    store: Path | None = None
    web: Path | None = None
    has_open_metrics: bool = False
    only_hosts: frozenset[HostId] = frozenset()
    limits: Limits = field(default_factory=Limits)
    unproven: int = TOTAL
    unproven_per_source: int = PER_SOURCE
    hosts_per_source: int = HOSTS_PER_SOURCE
    heartbeat: float = HEARTBEAT
    slow_peer: float = SLOW_PEER
    drain: float = DRAIN
    lease_ttl: float = TTL

    @property
    def scheme(self) -> str:
        """What our own pages' addresses begin with."""
        return "https" if self.certificate or self.is_behind_proxy else "http"

    def check(self) -> None:
        """See that nothing leaves this machine unencrypted (T40).

        Raises:
            UsageError: It would.

        """
        is_meant = self.is_plain or self.is_behind_proxy
        if self.certificate is None and not (is_meant and is_loopback(self.address)):
            raise PlaintextRefused(self.address)

    def all_names(self, port: int) -> tuple[str, ...]:
        """Return every name by which we may be dialled, with its port if odd."""
        if self.names:
            return self.names
        hosts = [f"[{self.address}]" if ":" in self.address else self.address]
        if is_loopback(self.address):
            hosts.append("localhost")
        if port == DEFAULT_PORTS[self.scheme]:
            return tuple(hosts)
        return tuple(f"{host}:{port}" for host in hosts)
